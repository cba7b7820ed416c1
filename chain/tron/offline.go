package tron

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

var _ chain.OfflineBuilder = (*Chain)(nil)

// errCold is wrapped by errors of transactions from a cold wallet that are not as they must be.
var errCold = errors.New("not a transaction from this cold wallet")

// signature is one of the owner, or of a key of a permission; its last byte is 27 or 28.
type signature struct {
	by    address
	bytes []byte
}

// coldTx is a payment from a cold wallet.
type coldTx struct {
	payload    payload
	raw        []byte
	signatures []signature // in ascending order of who signed; the chain takes any order
	permission *permission // nil: the owner's own key
}

// CheckCold checks that a wallet is an account of one key or with a permission of several, whose address is in its one
// form.
func (r *Rules) CheckCold(wallet bursar.ColdWallet) error {
	if wallet.Kind != bursar.ColdAddress && wallet.Kind != bursar.ColdPermission || wallet.Chain != r.cfg.ID ||
		len(wallet.Addresses) != 1 {
		return fmt.Errorf("%w: %s of %s is of kind %s, want one address, or an account with a permission, of %s", errCold,
			wallet.Name, wallet.Chain, wallet.Kind, r.cfg.ID)
	}
	if at, err := parseAddress(wallet.Addresses[0]); err != nil || at.String() != wallet.Addresses[0] {
		return fmt.Errorf("cold wallet %s: address %.100q is not in its one form", wallet.Name, wallet.Addresses[0])
	}
	return nil
}

// coldOf reads a transaction from a wallet.
func (r *Rules) coldOf(wallet bursar.ColdWallet, data []byte) (t *coldTx, err error) {
	if err := r.CheckCold(wallet); err != nil {
		return nil, err
	}
	t = new(coldTx)
	body := data
	if wallet.Kind == bursar.ColdPermission {
		if t.permission, body, err = parsePermission(data); err != nil {
			return nil, err
		}
	}
	if err := t.parse(body); err != nil {
		return nil, err
	}
	switch {
	case t.payload.Owner.String() != wallet.Addresses[0]:
		return nil, fmt.Errorf("%w: %s pays, want %s", errCold, t.payload.Owner, wallet.Addresses[0])
	case t.payload.Permission != uint64(wallet.PermissionID):
		return nil, fmt.Errorf("%w: permission %d signs it, want %d", errCold, t.payload.Permission, wallet.PermissionID)
	case t.payload.Expiration == 0:
		return nil, fmt.Errorf("%w: the transaction has no expiration", errCold)
	case !bytes.Equal(t.bytes(), data):
		return nil, fmt.Errorf("%w: the encoding is not canonical", errCold)
	}
	return t, t.sound()
}

// parse reads a transaction's message: the raw bytes and any number of signatures.
func (t *coldTx) parse(body []byte) (err error) {
	if t.raw, body, err = cut(body, txRaw); err != nil {
		return err
	}
	if t.payload, err = decodeCold(t.raw); err != nil {
		return fmt.Errorf("%w: %w", errCold, err)
	}
	for len(body) > 0 && len(t.signatures) < maxKeys {
		var s signature
		if s.bytes, body, err = cut(body, txSignature); err != nil {
			return err
		}
		if s.by, err = t.signer(s.bytes); err != nil {
			return err
		}
		t.signatures = append(t.signatures, s)
	}
	return nil
}

// signer returns who made a signature over the transaction.
func (t *coldTx) signer(sealed []byte) (by address, err error) {
	if len(sealed) != signatureSize || sealed[64] < recoveryOffset {
		return by, fmt.Errorf("%w: the signature has %d bytes, want %d whose last is 27 or 28", ethkey.ErrSignature,
			len(sealed),
			signatureSize)
	}
	plain := bytes.Clone(sealed)
	plain[64] -= recoveryOffset
	signer, err := ethkey.Signer(sha256.Sum256(t.raw), plain)
	return address(signer), err
}

// sound refuses signatures of others, twice by one, or more than may be needed.
func (t *coldTx) sound() error {
	for i, s := range t.signatures {
		switch {
		case t.permission == nil && s.by != t.payload.Owner || t.permission != nil && t.permission.of(s.by) == 0:
			return fmt.Errorf("%w: the signature is by %s, whose key may not sign", ethkey.ErrSignature, s.by)
		case i > 0 && compare(t.signatures[i-1].by, s.by) >= 0:
			return fmt.Errorf("%w: its signatures are not in ascending order, each once", errCold)
		}
	}
	if len(t.signatures) > t.permission.most() {
		return fmt.Errorf("%w: the transaction has %d signatures, at most %d are needed", errCold, len(t.signatures),
			t.permission.most())
	}
	return nil
}

// message returns the transaction as the chain has it.
func (t *coldTx) message() []byte {
	m := message(nil).bytes(txRaw, t.raw)
	for _, s := range t.signatures {
		m = m.bytes(txSignature, s.bytes)
	}
	return m
}

// bytes returns what parsing it read.
func (t *coldTx) bytes() []byte { return append(t.permission.encode(), t.message()...) }

// whole reports whether enough has signed.
func (t *coldTx) whole() bool {
	if t.permission == nil {
		return len(t.signatures) > 0
	}
	return t.permission.weight(t.signatures) >= t.permission.threshold
}

// ReadCold reads a transaction from a cold wallet, as the chain encodes it; of an account with a permission of several
// keys these come before it. Its fee is the fee limit, the price of all its bytes, and what several signatures cost.
func (r *Rules) ReadCold(wallet bursar.ColdWallet, data []byte) (_ chain.ColdTx, err error) {
	defer chain.Wrap(&err, "read transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.ColdTx{}, err
	}
	payment, err := r.payment(t.payload)
	if err != nil {
		return chain.ColdTx{}, err
	}
	fee, err := r.fee(t.raw, t.payload.FeeLimit)
	if err != nil {
		return chain.ColdTx{}, err
	}
	extra, err := r.several(t.permission)
	if err != nil {
		return chain.ColdTx{}, err
	}
	if fee, err = fee.Add(extra); err != nil {
		return chain.ColdTx{}, err
	}
	id := sha256.Sum256(t.raw)
	tx := chain.ColdTx{
		Payments:     []chain.Payment{payment},
		Fee:          fee,
		Weight:       size(t.raw),
		Reservations: []string{"tx/" + hash(id).String()},
		Ends:         time.UnixMilli(int64(t.payload.Expiration)).UTC(),
		Notes:        []chain.ColdNote{{Name: "id", Text: hash(id).String()}},
		Inputs:       []chain.ColdInput{r.signersOf(t, id[:])},
	}
	if t.permission != nil {
		tx.Notes = append(tx.Notes, chain.ColdNote{Name: "permission", Text: fmt.Sprintf("%d, weight %d of %d",
			t.payload.Permission, t.permission.weight(t.signatures), t.permission.threshold)})
	}
	tx.Notes = append(tx.Notes, chain.ColdNote{Name: "transaction", Text: hex.EncodeToString(t.message())})
	return tx, nil
}

// SignCold adds signatures, each of 65 bytes.
func (r *Rules) SignCold(
	wallet bursar.ColdWallet, data []byte, signatures []chain.ColdSignature,
) (_ []byte, err error) {
	defer chain.Wrap(&err, "add signatures to a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return nil, err
	}
	for _, s := range signatures {
		if err := t.add(s.Signature); err != nil {
			return nil, err
		}
	}
	return t.bytes(), nil
}

// add adds a signature whose last byte is 0, 1, 27 or 28, and checks it. One that is there, or that is not needed any
// more, changes nothing: the fee is for no more of them.
func (t *coldTx) add(given []byte) error {
	if t.whole() {
		return nil
	}
	s := signature{bytes: bytes.Clone(given)}
	if len(s.bytes) == signatureSize && s.bytes[64] < recoveryOffset {
		s.bytes[64] += recoveryOffset
	}
	var err error
	if s.by, err = t.signer(s.bytes); err != nil {
		return err
	}
	at, found := slices.BinarySearchFunc(t.signatures, s.by, func(s signature, by address) int {
		return compare(s.by, by)
	})
	if !found {
		t.signatures = slices.Insert(t.signatures, at, s)
	}
	return t.sound()
}

// CombineCold adds the signatures of another copy. The other may be the transaction alone, as programs of others return
// it, or a signature alone, of 65 bytes over its id.
func (r *Rules) CombineCold(wallet bursar.ColdWallet, one, two []byte) (_ []byte, err error) {
	defer chain.Wrap(&err, "combine a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, one)
	if err != nil {
		return nil, err
	}
	given, err := t.signed(two)
	if err != nil {
		return nil, err
	}
	for _, s := range given {
		if err := t.add(s); err != nil {
			return nil, err
		}
	}
	return t.bytes(), nil
}

// signed returns the signatures of another copy.
func (t *coldTx) signed(two []byte) (given [][]byte, err error) {
	if len(two) == signatureSize {
		return [][]byte{two}, nil
	}
	other := new(coldTx)
	if err := other.parse(bytes.TrimPrefix(two, t.permission.encode())); err != nil {
		return nil, err
	}
	if !bytes.Equal(t.raw, other.raw) {
		return nil, fmt.Errorf("%w: the bundle has another transaction", errCold)
	}
	for _, s := range other.signatures {
		given = append(given, s.bytes)
	}
	return given, nil
}

// FinishCold returns the signed transaction.
func (r *Rules) FinishCold(wallet bursar.ColdWallet, data []byte) (_ chain.SignedTx, err error) {
	defer chain.Wrap(&err, "finish a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.SignedTx{}, err
	}
	if !t.whole() {
		return chain.SignedTx{}, chain.ErrColdIncomplete
	}
	return chain.SignedTx{TxID: hash(sha256.Sum256(t.raw)).String(), Raw: t.message()}, nil
}

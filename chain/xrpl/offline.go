package xrpl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var _ chain.OfflineBuilder = (*Chain)(nil)

// errCold is wrapped by errors of transactions from a cold wallet that are not as they must be.
var errCold = errors.New("not a transaction from this cold wallet")

// coldTx is a payment from a cold wallet. Nothing but the account is known of a single key before it signs, so an
// unsigned one names no key, as one with several signers always does.
type coldTx struct {
	payment
	list *signerList // nil: a single key
}

// CheckCold checks that a wallet is an account of one key or with a list of signers, whose address is a classic one.
func (r *Rules) CheckCold(wallet bursar.ColdWallet) error {
	if wallet.Kind != bursar.ColdAddress && wallet.Kind != bursar.ColdSignerList || wallet.Chain != r.cfg.ID ||
		len(wallet.Addresses) != 1 {
		return fmt.Errorf("%w: %s of %s is of kind %s, want one address, or an account with a list of signers, of %s",
			errCold, wallet.Name, wallet.Chain, wallet.Kind, r.cfg.ID)
	}
	if _, err := parseClassic(wallet.Addresses[0]); err != nil {
		return fmt.Errorf("cold wallet %s: address %.100q: %w", wallet.Name, wallet.Addresses[0], err)
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
	if wallet.Kind == bursar.ColdSignerList {
		if t.list, body, err = parseSignerList(data); err != nil {
			return nil, err
		}
	}
	if t.payment, err = parsePayment(body); err != nil {
		return nil, fmt.Errorf("%w: %w", errCold, err)
	}
	switch {
	case t.Account.String() != wallet.Addresses[0] || t.Account == t.Destination:
		return nil, fmt.Errorf("%w: %s pays %s, want %s to pay another", errCold, t.Account, t.Destination,
			wallet.Addresses[0])
	case t.Flags != fullyCanonical:
		return nil, fmt.Errorf("%w: its flags are %#x, want %#x", errCold, t.Flags, uint32(fullyCanonical))
	case t.LastLedger == 0 || t.Sequence == 0 || t.Amount == 0 || t.Fee == 0:
		return nil, fmt.Errorf("%w: its last ledger, sequence, amount or fee is zero", errCold)
	case t.NetworkID != r.namedNetwork():
		return nil, fmt.Errorf("%w: the transaction is for network %d, want %d", errCold, t.NetworkID, r.namedNetwork())
	case !bytes.Equal(t.bytes(), data):
		return nil, fmt.Errorf("%w: the encoding is not canonical", errCold)
	}
	if t.list == nil {
		return t, t.soundSingle()
	}
	return t, t.list.sound(&t.payment)
}

// soundSingle refuses a signature that is not by the account's own key.
func (t *coldTx) soundSingle() error {
	switch {
	case len(t.Signers) > 0 || (len(t.SigningKey) == 0) != (t.Signature == nil):
		return fmt.Errorf("%w: a single key signs it, and names itself", errCold)
	case t.Signature == nil:
		return nil
	case accountOf(t.SigningKey) != t.Account:
		return fmt.Errorf("%w: the signature is by the key of %s, want %s", errSignature, accountOf(t.SigningKey), t.Account)
	}
	return verify(singlePrefix, t.signing(t.SigningKey), t.SigningKey, t.Signature)
}

// bytes returns what parsing it read.
func (t *coldTx) bytes() []byte { return append(t.list.encode(), t.encode()...) }

// signing returns the serialized transaction without signatures, with the key that signs it alone; without one where
// several sign.
func (p *payment) signing(key []byte) []byte {
	bare := *p
	bare.SigningKey, bare.Signature, bare.Signers = key, nil, nil
	return bare.encode()
}

// whole reports whether enough has signed.
func (t *coldTx) whole() bool {
	if t.list == nil {
		return t.Signature != nil
	}
	return t.list.weight(t.Signers) >= uint64(t.list.quorum)
}

// ReadCold reads a transaction from a cold wallet, as the ledger serializes it; of an account with a list of signers
// that list comes before it.
func (r *Rules) ReadCold(wallet bursar.ColdWallet, data []byte) (_ chain.ColdTx, err error) {
	defer chain.Wrap(&err, "read transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.ColdTx{}, err
	}
	to := bursar.Address{Base: t.Destination.String()}
	if t.Tag != nil {
		to.Memo, to.HasMemo = *t.Tag, true
	}
	tx := chain.ColdTx{
		Payments:     []chain.Payment{{Address: to, Amount: bursar.Units(t.Amount)}},
		Fee:          bursar.Units(t.Fee),
		Weight:       1,
		Reservations: []string{fmt.Sprintf("%s/%d", t.Account, t.Sequence)},
		Last:         uint64(t.LastLedger),
		Spacing:      [2]time.Duration{leastLedger, mostLedger},
	}
	if t.list == nil {
		tx.Inputs = []chain.ColdInput{{Need: 1, Keys: []chain.ColdKey{r.coldKey(t.Account, t.Signature != nil,
			func(key chain.PublicKey) []byte { return digestOf(singlePrefix, t.signing(key)) })}}}
	} else {
		tx.Inputs = []chain.ColdInput{r.signersOf(t)}
		tx.Notes = append(tx.Notes, chain.ColdNote{Name: "quorum", Text: fmt.Sprintf("weight %d of %d",
			t.list.weight(t.Signers), t.list.quorum)})
	}
	tx.Notes = append(tx.Notes, chain.ColdNote{Name: "transaction", Text: strings.ToUpper(hex.EncodeToString(t.encode()))})
	return tx, nil
}

// coldKey is an account whose own key may sign. The first own key of a seed is that of its cold account.
func (r *Rules) coldKey(of accountID, signed bool, digest func(chain.PublicKey) []byte) chain.ColdKey {
	return chain.ColdKey{Account: of.String(), Key: chain.Hot(r.cfg.Family), Signed: signed, Digest: digest}
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
		prefix, message := singlePrefix, t.signing(s.Public)
		if t.list != nil {
			prefix, message = severalPrefix, t.message(accountOf(s.Public))
		}
		der, err := seal(hash(digestOf(prefix, message)), s.Public, s.Signature)
		if err != nil {
			return nil, err
		}
		if err := t.add(signature{accountOf(s.Public), s.Public, der}); err != nil {
			return nil, err
		}
	}
	return t.bytes(), nil
}

// add adds a signature, and checks it. One that is there, or that is not needed any more, changes nothing: the fee is
// for no more of them.
func (t *coldTx) add(s signature) error {
	if t.whole() {
		return nil
	}
	if t.list == nil {
		t.SigningKey, t.Signature = s.Key, s.Signature
		return t.soundSingle()
	}
	at, found := slices.BinarySearchFunc(t.Signers, s.Account, func(s signature, account accountID) int {
		return compare(s.Account, account)
	})
	if !found {
		t.Signers = slices.Insert(t.Signers, at, s)
	}
	return t.list.sound(&t.payment)
}

// CombineCold adds the signatures of another copy. The other may be the transaction alone, as programs of others return
// it, in the ledger's serialization.
func (r *Rules) CombineCold(wallet bursar.ColdWallet, one, two []byte) (_ []byte, err error) {
	defer chain.Wrap(&err, "combine a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, one)
	if err != nil {
		return nil, err
	}
	if t.list != nil && !bytes.HasPrefix(two, t.list.encode()) {
		two = append(t.list.encode(), two...)
	}
	other, err := r.coldOf(wallet, two)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(t.signing(nil), other.signing(nil)) {
		return nil, fmt.Errorf("%w: the bundle has another transaction", errCold)
	}
	if other.whole() && !t.whole() {
		return other.bytes(), nil
	}
	if t.list == nil {
		return t.bytes(), nil
	}
	for _, s := range other.Signers {
		if err := t.add(s); err != nil {
			return nil, err
		}
	}
	return t.bytes(), nil
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
	raw := t.encode()
	return chain.SignedTx{TxID: txID(raw).String(), Raw: raw}, nil
}

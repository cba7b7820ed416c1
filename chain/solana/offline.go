package solana

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var _ chain.OfflineBuilder = (*Chain)(nil)

// errCold is wrapped by errors of transactions from a cold wallet that are not as they must be.
var errCold = errors.New("not a transaction from this cold wallet")

// recentHashes is the account of the newest blockhashes, which an advance of a nonce names.
var recentHashes = mustKey("SysvarRecentB1ockHashes11111111111111111111")

// advanceCode is SystemInstruction::AdvanceNonceAccount (Agave: system_instruction).
const advanceCode = 4

// coldTx is a payment from a cold account, which is the authority of a nonce account: its message begins with the
// advance of that nonce, whose value stands in place of a blockhash, and so it does not expire.
type coldTx struct {
	message
	nonce key       // the nonce account
	sig   signature // all zero: not signed
}

// CheckCold checks that a wallet is an account with a nonce account, both in their one form.
func (r *Rules) CheckCold(wallet bursar.ColdWallet) error {
	if wallet.Kind != bursar.ColdNonce || wallet.Chain != r.cfg.ID || len(wallet.Addresses) != 1 {
		return fmt.Errorf("%w: %s of %s is of kind %s, want one address with a nonce account, of %s", errCold, wallet.Name,
			wallet.Chain, wallet.Kind, r.cfg.ID)
	}
	account, err1 := parseKey(wallet.Addresses[0])
	nonce, err2 := parseKey(wallet.NonceAccount)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("cold wallet %s: its address or its nonce account: %w", wallet.Name, err)
	}
	if account == nonce || account == (key{}) || nonce == (key{}) {
		return fmt.Errorf("%w: address %s and nonce account %s of %s", errCold, account, nonce, wallet.Name)
	}
	return nil
}

// compile lists the payer, the nonce account, the receiver, and what is only read; then the advance, the budget and the
// transfer.
func (t *coldTx) compile() *compiled {
	to := t.transfers[0]
	data := binary.LittleEndian.AppendUint32(nil, transferCode)
	return &compiled{
		format:       v0,
		signers:      1,
		readUnsigned: 3,
		blockhash:    t.blockhash,
		keys:         []key{t.payer, t.nonce, to.to, recentHashes, budgetProgram, systemProgram},
		steps: []step{
			{5, []byte{1, 3, 0}, binary.LittleEndian.AppendUint32(nil, advanceCode)},
			{4, nil, binary.LittleEndian.AppendUint64([]byte{unitPriceCode}, t.price)},
			{4, nil, binary.LittleEndian.AppendUint32([]byte{unitLimitCode}, t.limit)},
			{5, []byte{0, 2}, binary.LittleEndian.AppendUint64(data, to.lamports)},
		},
	}
}

func (t *coldTx) body() []byte { return t.compile().encode() }

// bytes returns the transaction as others read it, with a signature of zeros where there is none.
func (t *coldTx) bytes() []byte { return t.transaction(t.sig[:], t.body()) }

// parseCold reads the output of bytes and refuses anything else: it encodes the result again and compares.
func parseCold(raw []byte) (*coldTx, error) {
	sig, body, err := split(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCold, err)
	}
	c, err := compiledFrom(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCold, err)
	}
	if c.format != v0 || len(c.keys) != 6 || len(c.steps) != 4 || len(c.steps[1].data) != 9 ||
		len(c.steps[2].data) != 5 || len(c.steps[3].data) != 12 {
		return nil, fmt.Errorf("%w: the text is no message that advances a nonce and makes one transfer", errCold)
	}
	t := &coldTx{nonce: c.keys[1], sig: sig, message: message{format: v0, payer: c.keys[0], blockhash: c.blockhash,
		price: binary.LittleEndian.Uint64(c.steps[1].data[1:]), limit: binary.LittleEndian.Uint32(c.steps[2].data[1:]),
		transfers: []transfer{{c.keys[2], binary.LittleEndian.Uint64(c.steps[3].data[4:])}}}}
	if !bytes.Equal(t.bytes(), raw) {
		return nil, fmt.Errorf("%w: the text is no message that advances a nonce and makes one transfer", errCold)
	}
	return t, t.sound()
}

// sound refuses a signature that is not the payer's, and accounts that have two parts.
func (t *coldTx) sound() error {
	keys := t.compile().keys
	for i, k := range keys {
		if slices.Contains(keys[:i], k) {
			return fmt.Errorf("%w: account %s has two parts", errCold, k)
		}
	}
	if t.signed() && !ed25519.Verify(t.payer[:], t.body(), t.sig[:]) {
		return fmt.Errorf("%w: the signature was not made by %s", errSignature, t.payer)
	}
	return nil
}

func (t *coldTx) signed() bool { return t.sig != signature{} }

// coldOf reads a transaction from a wallet.
func (r *Rules) coldOf(wallet bursar.ColdWallet, data []byte) (*coldTx, error) {
	if err := r.CheckCold(wallet); err != nil {
		return nil, err
	}
	t, err := parseCold(data)
	if err != nil {
		return nil, err
	}
	if t.payer.String() != wallet.Addresses[0] || t.nonce.String() != wallet.NonceAccount {
		return nil, fmt.Errorf("%w: %s pays and nonce account %s is advanced, want %s and %s", errCold, t.payer, t.nonce,
			wallet.Addresses[0], wallet.NonceAccount)
	}
	return t, nil
}

// ReadCold reads a transaction from a cold wallet: version 0, with its signature or zeros in place of it.
func (r *Rules) ReadCold(wallet bursar.ColdWallet, data []byte) (_ chain.ColdTx, err error) {
	defer chain.Wrap(&err, "read transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.ColdTx{}, err
	}
	contents, err := t.contents()
	if err != nil {
		return chain.ColdTx{}, err
	}
	return chain.ColdTx{
		Payments:     contents.Payments,
		Fee:          contents.Fee,
		Weight:       contents.Weight,
		Reservations: []string{t.nonce.String() + "/" + t.blockhash.String()},
		Notes: []chain.ColdNote{
			{Name: "nonce", Text: t.blockhash.String() + " of " + t.nonce.String()},
			{Name: "ends", Text: "never by itself: if it is not used, revoke it at once"},
			{Name: "transaction", Text: base64.StdEncoding.EncodeToString(data)},
		},
		Inputs: []chain.ColdInput{{Digest: t.body(), Need: 1, Keys: []chain.ColdKey{{Account: t.payer.String(),
			Key: chain.Hot(r.cfg.Family), Signed: t.signed()}}}},
	}, nil
}

// SignCold adds the signature, of 64 bytes.
func (r *Rules) SignCold(
	wallet bursar.ColdWallet, data []byte, signatures []chain.ColdSignature,
) (_ []byte, err error) {
	defer chain.Wrap(&err, "add signatures to a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return nil, err
	}
	for _, s := range signatures {
		if len(s.Signature) != len(t.sig) || t.signed() {
			return nil, fmt.Errorf("%w: got %d bytes, want 64 for a transaction that is not signed", errSignature,
				len(s.Signature))
		}
		copy(t.sig[:], s.Signature)
		if err := t.sound(); err != nil {
			return nil, err
		}
	}
	return t.bytes(), nil
}

// CombineCold adds the signature of another copy, which may be a signature alone.
func (r *Rules) CombineCold(wallet bursar.ColdWallet, one, two []byte) (_ []byte, err error) {
	defer chain.Wrap(&err, "combine a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, one)
	if err != nil {
		return nil, err
	}
	var given signature
	if len(two) == len(given) {
		given = signature(two)
	} else {
		other, err := r.coldOf(wallet, two)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(t.body(), other.body()) {
			return nil, fmt.Errorf("%w: the bundle has another transaction", errCold)
		}
		given = other.sig
	}
	if !t.signed() {
		t.sig = given
	}
	return t.bytes(), t.sound()
}

// FinishCold returns the signed transaction.
func (r *Rules) FinishCold(wallet bursar.ColdWallet, data []byte) (_ chain.SignedTx, err error) {
	defer chain.Wrap(&err, "finish a transaction from cold wallet %s", wallet.Name)
	t, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.SignedTx{}, err
	}
	if !t.signed() {
		return chain.SignedTx{}, chain.ErrColdIncomplete
	}
	return chain.SignedTx{TxID: t.sig.String(), Raw: t.bytes()}, nil
}

package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// unsigned is an unsigned transaction, encoded as JSON. Digests and the transaction's id are hashes of its bytes.
type unsigned struct {
	Chain    bursar.ChainID  `json:"chain"`
	Inputs   []input         `json:"inputs,omitempty"` // UTXO model
	Change   chain.Source    `json:"change,omitzero"`  // UTXO model
	From     chain.Source    `json:"from,omitzero"`    // account model
	Nonce    uint64          `json:"nonce,omitempty"`  // account model
	Payments []chain.Payment `json:"payments"`
	Fee      bursar.Amount   `json:"fee"`
	Weight   uint64          `json:"weight"`
	Expires  uint64          `json:"expires,omitempty"`
}

// input is a UTXO to spend.
type input struct {
	Resource string        `json:"claim"`
	Source   chain.Source  `json:"source"`
	Amount   bursar.Amount `json:"amount"`
}

// signed is a transaction as it is broadcast.
type signed struct {
	Unsigned   []byte   `json:"unsigned"`
	Signatures [][]byte `json:"signatures"`
}

const maxTransactionBytes = 1 << 20

func (c *Chain) decode(raw []byte) (unsigned, error) {
	var u unsigned
	if len(raw) > maxTransactionBytes {
		return u, fmt.Errorf("transaction of %d bytes", len(raw))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&u); err != nil {
		return u, fmt.Errorf("decode transaction: %w", err)
	}
	if decoder.InputOffset() != int64(len(raw)) {
		return u, errors.New("bytes after the transaction")
	}
	return u, c.validate(u)
}

// validate checks what needs no state of the chain.
func (c *Chain) validate(u unsigned) error {
	if u.Chain != c.config.ID {
		return fmt.Errorf("transaction of chain %.40q", u.Chain)
	}
	isUTXO := c.config.Spending == chain.UTXOModel
	if len(u.Payments) == 0 || isUTXO == (len(u.Inputs) == 0) || isUTXO != (u.From == chain.Source{}) {
		return errors.New("transaction without payments or without a payer")
	}
	if weight := c.weight(len(u.Inputs), u.Payments); weight != u.Weight {
		return fmt.Errorf("weight %d, want %d", u.Weight, weight)
	}
	out := u.Fee
	for _, payment := range u.Payments {
		if err := c.payable(payment); err != nil {
			return err
		}
		var err error
		if out, err = out.Add(payment.Amount); err != nil {
			return fmt.Errorf("sum of payments: %w", err)
		}
	}
	in, err := u.brings()
	if err == nil && isUTXO && in != out {
		return fmt.Errorf("the inputs are %s, outputs and fee %s", in, out)
	}
	return err
}

// payable checks that a payment's address and contract are canonical for this chain.
func (c *Chain) payable(payment chain.Payment) error {
	if address, err := c.ParseAddress(payment.Address.String()); err != nil || address != payment.Address {
		return fmt.Errorf("payment to %.80q: %w", payment.Address, bursar.ErrBadAddress)
	}
	if payment.Contract == "" {
		return nil
	}
	if c.config.Spending == chain.UTXOModel {
		return errors.New("a chain of the UTXO model has no tokens")
	}
	if contract, err := c.ParseContract(payment.Contract); err != nil || contract != payment.Contract {
		return fmt.Errorf("contract %.80q: %w", payment.Contract, bursar.ErrBadAddress)
	}
	return nil
}

// brings returns the sum of the inputs, each of which may occur once.
func (u unsigned) brings() (bursar.Amount, error) {
	var in bursar.Amount
	seen := map[string]bool{}
	for _, input := range u.Inputs {
		if seen[input.Resource] {
			return in, fmt.Errorf("the UTXO %s is used twice", input.Resource)
		}
		seen[input.Resource] = true
		var err error
		if in, err = in.Add(input.Amount); err != nil {
			return in, fmt.Errorf("sum of inputs: %w", err)
		}
	}
	return in, nil
}

// weight counts inputs and outputs on the UTXO model, and the gas of each payment on the account model.
func (c *Chain) weight(inputs int, payments []chain.Payment) uint64 {
	if c.config.Spending == chain.UTXOModel {
		return 10 + 68*uint64(inputs) + 31*uint64(len(payments))
	}
	var gas uint64
	for _, payment := range payments {
		if payment.Contract == "" {
			gas += 21_000
		} else {
			gas += 65_000
		}
	}
	return gas
}

func (u unsigned) sources() []chain.Source {
	if len(u.Inputs) == 0 {
		return []chain.Source{u.From}
	}
	var sources []chain.Source
	for _, in := range u.Inputs {
		sources = append(sources, in.Source)
	}
	return sources
}

func (c *Chain) transaction(u unsigned, raw []byte) *transaction {
	tx := &transaction{
		id: idOf(raw), inputs: u.Inputs, payer: u.From.Base, nonce: u.Nonce, payments: u.Payments, weight: u.Weight,
		fee: u.Fee, expires: u.Expires, makesUTXOs: len(u.Inputs) > 0, unnumbered: c.config.Unnumbered,
	}
	if tx.makesUTXOs {
		tx.raw = raw
	}
	return tx.withReservations()
}

func idOf(raw []byte) string {
	hash := sha256.Sum256(append([]byte("transaction "), raw...))
	return hex.EncodeToString(hash[:])
}

func digest(raw []byte, i int) []byte {
	hash := sha256.Sum256(binary.BigEndian.AppendUint32(append([]byte("input "), raw...), uint32(i)))
	return hash[:]
}

// UnsignedTxID returns the ID that the transaction will have on a chain of the UTXO model. On one of the account model
// it is empty, as on the chains whose IDs cover the signature.
func (c *Chain) UnsignedTxID(raw []byte) (string, error) {
	if _, err := c.decode(raw); err != nil || c.Capabilities().Model == chain.AccountModel {
		return "", err
	}
	return idOf(raw), nil
}

// Inspect reads an unsigned transaction's bytes.
func (c *Chain) Inspect(raw []byte) (chain.Contents, error) {
	u, err := c.decode(raw)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	contents := chain.Contents{
		Payments:     u.Payments,
		Fee:          u.Fee,
		Weight:       u.Weight,
		Reservations: c.transaction(u, raw).resources,
	}
	for i, source := range u.sources() {
		input := chain.Input{Source: source, Digest: digest(raw, i)}
		if len(u.Inputs) > 0 {
			input.Outpoint, input.Amount = u.Inputs[i].Resource, u.Inputs[i].Amount
		}
		contents.Inputs = append(contents.Inputs, input)
	}
	return contents, nil
}

// Assemble adds the signatures to the transaction and checks that each is by the key of the address that it spends
// from.
func (c *Chain) Assemble(unsigned chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	u, err := c.decode(unsigned.Bytes)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	if resources := c.transaction(u, unsigned.Bytes).resources; !slices.Equal(resources, unsigned.Reservations) {
		return chain.SignedTx{},
			fmt.Errorf("assemble: the transaction reserves %q, its bytes %q", unsigned.Reservations, resources)
	}
	if err := c.verify(u, unsigned.Bytes, signatures); err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	raw, err := json.Marshal(signed{unsigned.Bytes, signatures})
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	id := idOf(unsigned.Bytes)
	return chain.SignedTx{TxID: id, Raw: raw, Change: u.change(id)}, nil
}

// change returns the outputs to the change address.
func (u unsigned) change(txID string) []chain.UTXO {
	var utxos []chain.UTXO
	for i, payment := range u.Payments {
		if len(u.Inputs) > 0 && payment.Address.Base == u.Change.Base {
			utxos = append(utxos, chain.UTXO{Outpoint: fmt.Sprintf("%s:%d", txID, i), Source: u.Change, Amount: payment.Amount})
		}
	}
	return utxos
}

func (c *Chain) verify(u unsigned, raw []byte, signatures [][]byte) error {
	sources := u.sources()
	if len(signatures) != len(sources) {
		return fmt.Errorf("%d signatures for %d inputs", len(signatures), len(sources))
	}
	for i, source := range sources {
		pub, err := recovered.key(signatures[i], digest(raw, i))
		if err != nil {
			return fmt.Errorf("signature %d: %w", i, err)
		}
		if c.base(pub) != source.Base {
			return fmt.Errorf("signature %d is by another key than that of %s", i, source.Base)
		}
	}
	return nil
}

// recoverKey returns the public key of a signature of R, S (low, as in BIP 62) and recovery id.
func recoverKey(signature, digest []byte) (chain.PublicKey, error) {
	const compactOffset = 27 + 4 // the first byte of the compact form for recovery id 0 and a short public key
	if len(signature) != 65 || signature[64] > 1 {
		return nil, fmt.Errorf("a signature of %d bytes, want R, S and recovery id", len(signature))
	}
	var s btcec.ModNScalar
	if overflow := s.SetByteSlice(signature[32:64]); overflow || s.IsOverHalfOrder() {
		return nil, errors.New("s is not low")
	}
	pub, _, err := ecdsa.RecoverCompact(append([]byte{compactOffset + signature[64]}, signature[:64]...), digest)
	if err != nil {
		return nil, fmt.Errorf("recover key: %w", err)
	}
	return pub.SerializeCompressed(), nil
}

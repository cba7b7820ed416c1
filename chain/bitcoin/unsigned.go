package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Fields common to every transaction of ours. The sequence lets it be replaced (BIP 125) and sets no lock time.
const (
	txVersion   = 2
	txSequence  = 0xfffffffd
	maxUnsigned = 1 << 20 // bytes
)

// unsigned is a transaction together with what its signatures commit to. Its stored form is canonical JSON: bytes that
// do not stay the same when they are read and written again are refused.
type unsigned struct {
	tx     *wire.MsgTx
	inputs []inputForm // one for each input, in order
	change chain.Source
}

type inputForm struct {
	Source chain.Source  `json:"source"`
	Amount bursar.Amount `json:"amount"`
}

type unsignedForm struct {
	Tx     string       `json:"tx"` // serialized without witnesses
	Inputs []inputForm  `json:"inputs"`
	Change chain.Source `json:"change"` // every output to this base address is ours
}

func (u unsigned) encode() ([]byte, error) {
	var raw bytes.Buffer
	if err := u.tx.SerializeNoWitness(&raw); err != nil {
		return nil, fmt.Errorf("encode transaction: %w", err)
	}
	return json.Marshal(unsignedForm{Tx: hex.EncodeToString(raw.Bytes()), Inputs: u.inputs, Change: u.change})
}

// parseUnsigned reads the output of encode and refuses anything else.
func (n Network) parseUnsigned(data []byte) (unsigned, error) {
	var written unsignedForm
	if len(data) > maxUnsigned {
		return unsigned{}, errors.New("the unsigned transaction is too long")
	}
	if err := json.Unmarshal(data, &written); err != nil {
		return unsigned{}, err
	}
	raw, err := hex.DecodeString(written.Tx)
	if err != nil {
		return unsigned{}, err
	}
	u := unsigned{tx: new(wire.MsgTx), inputs: written.Inputs, change: written.Change}
	if err := u.tx.DeserializeNoWitness(bytes.NewReader(raw)); err != nil {
		return unsigned{}, err
	}
	again, err := u.encode()
	if err != nil {
		return unsigned{}, err
	}
	if !bytes.Equal(again, data) {
		return unsigned{}, errors.New("the unsigned transaction is not in canonical form")
	}
	return u, n.validate(u)
}

// validate refuses anything that no unsigned transaction of ours has.
func (n Network) validate(u unsigned) error {
	switch {
	case u.tx.Version != txVersion || u.tx.LockTime != 0:
		return errors.New("the version is not ours, or there is a lock time")
	case len(u.tx.TxIn) == 0 || len(u.tx.TxIn) != len(u.inputs) || len(u.tx.TxOut) == 0:
		return fmt.Errorf("the transaction has %d inputs, %d UTXOs and %d outputs", len(u.tx.TxIn), len(u.inputs),
			len(u.tx.TxOut))
	}
	if _, err := n.keyHash(u.change.Base); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	seen := make(map[wire.OutPoint]bool, len(u.inputs))
	for i, in := range u.tx.TxIn {
		if in.Sequence != txSequence || len(in.SignatureScript) != 0 || seen[in.PreviousOutPoint] {
			return fmt.Errorf("input %d has an unexpected sequence or a script, or is listed twice", i)
		}
		seen[in.PreviousOutPoint] = true
		if value, fits := u.inputs[i].Amount.Uint64(); !fits || value == 0 || value > maxMoney {
			return fmt.Errorf("input %d has the invalid amount %s", i, u.inputs[i].Amount)
		}
		if _, err := n.keyHash(u.inputs[i].Source.Base); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}

// keyHash returns the key hash of an address of ours, which must be a canonical P2WPKH address.
func (n Network) keyHash(base string) ([sizeKeyHash]byte, error) {
	script, err := n.script(base)
	if err != nil {
		return [sizeKeyHash]byte{}, err
	}
	if canonical, err := n.base(script); err != nil || canonical != base || !isKeyHash(script) {
		return [sizeKeyHash]byte{}, fmt.Errorf("%w: %.100q cannot be one of ours", bursar.ErrBadAddress, base)
	}
	return [sizeKeyHash]byte(script[2:]), nil
}

// outpoints returns the UTXOs that the transaction spends, in the order of the inputs.
func (u unsigned) outpoints() []string {
	resources := make([]string, len(u.tx.TxIn))
	for i, in := range u.tx.TxIn {
		resources[i] = utxoOf(in.PreviousOutPoint.Hash, in.PreviousOutPoint.Index)
	}
	return resources
}

func utxoOf(tx chainhash.Hash, index uint32) string { return outpoint{tx, index}.String() }

// fee returns the sum of the inputs less the sum of the outputs.
func (u unsigned) fee() (bursar.Amount, error) {
	var in, out bursar.Amount
	var err error
	for _, input := range u.inputs {
		if in, err = in.Add(input.Amount); err != nil {
			return in, err
		}
	}
	for i, to := range u.tx.TxOut {
		if to.Value < 0 || to.Value > maxMoney {
			return in, fmt.Errorf("output %d has the invalid value %d", i, to.Value)
		}
		if out, err = out.Add(bursar.Units(uint64(to.Value))); err != nil {
			return in, err
		}
	}
	return in.Sub(out)
}

// vbytes returns the maximum virtual size of the signed transaction.
func (u unsigned) vbytes() uint64 {
	var size uint64
	for _, out := range u.tx.TxOut {
		size += outputSize(out.PkScript)
	}
	return vbytes(len(u.tx.TxIn), len(u.tx.TxOut), size)
}

// Inspect reads an unsigned transaction. An output to a script without an address is an error, and so is anything that
// unsigned transactions of ours do not have. The digests are those of BIP 143 for all inputs and outputs; each commits
// to the amount of its own input only, so that signatures from two unsigned transactions with false amounts can belong
// together: anyone who signs must have the amounts proven (ReadPrevious). Weight is in virtual bytes.
func (c *Chain) Inspect(data []byte) (chain.Contents, error) {
	u, err := c.network.parseUnsigned(data)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect unsigned transaction: %w", err)
	}
	contents, err := c.network.contents(u)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect unsigned transaction: %w", err)
	}
	return contents, nil
}

// UnsignedTxID returns the ID that the transaction has once it is signed: all inputs are of segwit, whose signatures
// the ID does not cover (BIP 141).
func (c *Chain) UnsignedTxID(data []byte) (string, error) {
	u, err := c.network.parseUnsigned(data)
	if err != nil {
		return "", fmt.Errorf("read the ID of an unsigned transaction: %w", err)
	}
	return u.tx.TxHash().String(), nil
}

func (n Network) contents(u unsigned) (chain.Contents, error) {
	fee, err := u.fee()
	if err != nil {
		return chain.Contents{}, err
	}
	contents := chain.Contents{Fee: fee, Weight: u.vbytes(), Reservations: u.outpoints()}
	for i, out := range u.tx.TxOut {
		base, err := n.base(out.PkScript)
		if err != nil {
			return chain.Contents{}, fmt.Errorf("output %d: %w", i, err)
		}
		contents.Payments = append(contents.Payments, chain.Payment{
			Address: bursar.Address{Base: base}, Amount: bursar.Units(uint64(out.Value)),
		})
	}
	hashes := sigHashes(u.tx)
	for i, input := range u.inputs {
		digest, err := n.digest(u, hashes, i)
		if err != nil {
			return chain.Contents{}, fmt.Errorf("input %d: %w", i, err)
		}
		contents.Inputs = append(contents.Inputs, chain.Input{Source: input.Source, Digest: digest,
			Outpoint: contents.Reservations[i], Amount: input.Amount})
	}
	return contents, nil
}

// sigHashes computes the parts that the digests of all inputs share. BIP 143 needs no previous outputs for them; only
// taproot would use the fetcher.
func sigHashes(tx *wire.MsgTx) *txscript.TxSigHashes {
	return txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(nil, 0))
}

func (n Network) digest(u unsigned, hashes *txscript.TxSigHashes, i int) ([]byte, error) {
	hash, err := n.keyHash(u.inputs[i].Source.Base)
	if err != nil {
		return nil, err
	}
	value, _ := u.inputs[i].Amount.Uint64() // validated
	digest, err := txscript.CalcWitnessSigHash(keyHashScript(hash), hashes, txscript.SigHashAll, u.tx, i, int64(value))
	return slices.Clip(digest), err
}

package tron

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// envelope is the stored form of an unsigned transaction: what is to be signed, and with which key.
type envelope struct {
	Version uint64
	Family  string
	Branch  uint32
	Index   uint32
	Raw     []byte // the encoded payload; its SHA-256 is the transaction's id, and is what is signed
}

const envelopeVersion = 1

var errUnsigned = errors.New("not an unsigned transaction of this chain")

// pack returns the only encoding of a payment.
func pack(p *payload, key chain.KeyRef) ([]byte, error) {
	unsigned, err := rlp.EncodeToBytes(&envelope{
		Version: envelopeVersion, Family: string(key.Family), Branch: key.Branch, Index: key.Index, Raw: p.encode(),
	})
	if err != nil {
		return nil, fmt.Errorf("encode unsigned transaction: %w", err)
	}
	return unsigned, nil
}

// unpack reads the output of pack. RLP has one encoding for each value, and the decoder accepts no other.
func unpack(unsigned []byte) (e envelope, p payload, err error) {
	if err := rlp.DecodeBytes(unsigned, &e); err != nil {
		return e, p, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	if e.Version != envelopeVersion || e.Family != string(chain.FamilyTron) {
		return e, p, fmt.Errorf("%w: version %d, family %.20q", errUnsigned, e.Version, e.Family)
	}
	if p, err = decodePayload(e.Raw); err != nil {
		return e, p, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	return e, p, nil
}

// Inspect reads an unsigned transaction: one plain payment, or one transfer(address,uint256) call of a listed token.
// Anything else – other call data, a value sent along, a memo, a permission id, a second contract, an unknown field –
// is an error.
//
// Its fee is the fee limit and the price of all its bytes. The chain ignores a plain payment's fee limit; it carries
// the cost of activating the receiver, so that the signature covers the whole fee.
func (r *Rules) Inspect(unsigned []byte) (chain.Contents, error) {
	contents, err := r.inspect(unsigned)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	return contents, nil
}

// UnsignedTxID returns the ID that the transaction has once it is signed: the hash of its data without the signatures.
func (r *Rules) UnsignedTxID(unsigned []byte) (string, error) {
	e, _, err := unpack(unsigned)
	if err != nil {
		return "", fmt.Errorf("read the ID of an unsigned transaction: %w", err)
	}
	return hash(sha256.Sum256(e.Raw)).String(), nil
}

func (r *Rules) inspect(unsigned []byte) (contents chain.Contents, err error) {
	e, p, err := unpack(unsigned)
	if err != nil {
		return contents, err
	}
	payment, err := r.payment(p)
	if err != nil {
		return contents, err
	}
	fee, err := r.fee(e.Raw, p.FeeLimit)
	if err != nil {
		return contents, fmt.Errorf("fee: %w", err)
	}
	digest := sha256.Sum256(e.Raw)
	key := chain.KeyRef{Family: bursar.Family(e.Family), Branch: e.Branch, Index: e.Index}
	return chain.Contents{
		Payments: []chain.Payment{payment},
		Fee:      fee,
		Weight:   size(e.Raw),
		Inputs:   []chain.Input{{Source: chain.Source{Key: key, Base: p.Owner.String()}, Digest: digest[:]}},
	}, nil
}

// fee returns the most that a transaction can cost: its fee limit, and every byte of bandwidth paid for.
func (r *Rules) fee(raw []byte, limit uint64) (bursar.Amount, error) {
	bandwidth, err := bursar.Units(size(raw)).Mul(r.cfg.BytePrice)
	if err != nil {
		return bursar.Amount{}, err
	}
	return bandwidth.Add(bursar.Units(limit))
}

// payment reads the payment that a payload makes.
func (r *Rules) payment(p payload) (chain.Payment, error) {
	if p.Owner == (address{}) || p.Target == (address{}) || p.Owner == p.Target {
		return chain.Payment{}, fmt.Errorf("%w: the transaction has no payer or no receiver, or they are equal", errUnsigned)
	}
	if p.Data == nil {
		if p.Amount == 0 {
			return chain.Payment{}, fmt.Errorf("%w: the transaction pays nothing", errUnsigned)
		}
		return chain.Payment{Address: bursar.Address{Base: p.Target.String()}, Amount: bursar.Units(p.Amount)}, nil
	}
	token, listed := r.tokens[p.Target]
	to, amount, ok := readTransfer(p.Data)
	if !listed || !ok || to == (address{}) {
		return chain.Payment{}, fmt.Errorf("%w: its call data is not a transfer of a listed token", errUnsigned)
	}
	return chain.Payment{Address: bursar.Address{Base: to.String()}, Contract: token.Contract, Amount: amount}, nil
}

// Assemble accepts one signature of 65 bytes (R, S, recovery id) by the payer, with S in the lower half.
func (r *Rules) Assemble(unsigned chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	tx, err := r.assemble(unsigned.Bytes, signatures)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	return tx, nil
}

// recoveryOffset is what TronWeb and java-tron's wallet add to the recovery id.
const recoveryOffset = 27

func (r *Rules) assemble(unsigned []byte, signatures [][]byte) (chain.SignedTx, error) {
	if _, err := r.inspect(unsigned); err != nil {
		return chain.SignedTx{}, err
	}
	e, p, err := unpack(unsigned)
	if err != nil {
		return chain.SignedTx{}, err
	}
	if len(signatures) != 1 {
		return chain.SignedTx{}, fmt.Errorf("%w: got %d signatures, want one", ethkey.ErrSignature, len(signatures))
	}
	id := sha256.Sum256(e.Raw)
	if err := checkSignature(id, signatures[0], p.Owner); err != nil {
		return chain.SignedTx{}, err
	}
	signature := bytes.Clone(signatures[0])
	signature[64] += recoveryOffset
	return chain.SignedTx{TxID: hash(id).String(), Raw: seal(e.Raw, signature)}, nil
}

func checkSignature(digest [32]byte, signature []byte, by address) error {
	signer, err := ethkey.Signer(digest, signature)
	if err == nil && signer != by {
		err = fmt.Errorf("%w: the signature was made by %s, want %s", ethkey.ErrSignature, address(signer), by)
	}
	return err
}

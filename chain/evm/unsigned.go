package evm

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// feeMarketType is the type byte of EIP-1559 transactions.
const feeMarketType = 2

// payload is the unsigned part of an EIP-1559 transaction, in the order of its encoding.
type payload struct {
	ChainID uint64
	Nonce   uint64
	Tip     *big.Int
	MaxFee  *big.Int
	Gas     uint64
	To      address
	Value   *big.Int
	Data    []byte
	Access  []accessEntry
}

type accessEntry struct {
	Address address
	Keys    []hash
}

// signedPayload is the whole signed transaction.
type signedPayload struct {
	ChainID uint64
	Nonce   uint64
	Tip     *big.Int
	MaxFee  *big.Int
	Gas     uint64
	To      address
	Value   *big.Int
	Data    []byte
	Access  []accessEntry
	YParity uint64 // y parity: the recovery id
	R, S    *big.Int
}

// envelope is the stored form of an unsigned transaction: what is to be signed, and by whom.
type envelope struct {
	Version uint64
	Family  string
	Branch  uint32
	Index   uint32
	From    address
	Payload []byte // the type byte and the payload's RLP, which are hashed and signed
}

const envelopeVersion = 1

var errUnsigned = errors.New("not an unsigned transaction of this chain")

// pack returns the only encoding of a payment.
func (r *Rules) pack(p payload, source chain.Source) ([]byte, error) {
	from, err := parseAddress(source.Base)
	if err != nil {
		return nil, fmt.Errorf("source %.50q: %w", source.Base, err)
	}
	body, err := rlp.EncodeToBytes(&p)
	if err != nil {
		return nil, fmt.Errorf("encode payload: %w", err)
	}
	unsigned, err := rlp.EncodeToBytes(&envelope{
		Version: envelopeVersion, Family: string(source.Key.Family), Branch: source.Key.Branch, Index: source.Key.Index,
		From: from, Payload: append([]byte{feeMarketType}, body...),
	})
	if err != nil {
		return nil, fmt.Errorf("encode unsigned transaction: %w", err)
	}
	return unsigned, nil
}

// unpack reads the output of pack. RLP has one encoding for each value, and the decoder accepts no other.
func (r *Rules) unpack(unsigned []byte) (e envelope, p payload, err error) {
	if err := rlp.DecodeBytes(unsigned, &e); err != nil {
		return e, p, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	if e.Version != envelopeVersion || e.Family != string(r.cfg.Family) || e.From == (address{}) ||
		len(e.Payload) == 0 || e.Payload[0] != feeMarketType {
		return e, p, fmt.Errorf("%w: version %d, family %.20q", errUnsigned, e.Version, e.Family)
	}
	if err := rlp.DecodeBytes(e.Payload[1:], &p); err != nil {
		return e, p, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	if p.ChainID != r.cfg.ChainID {
		return e, p, fmt.Errorf("%w: chain id %d is not this chain's", errUnsigned, p.ChainID)
	}
	if again, err := rlp.EncodeToBytes(&p); err != nil || !bytes.Equal(again, e.Payload[1:]) {
		return e, p, fmt.Errorf("%w: the encoding is not canonical", errUnsigned)
	}
	return e, p, nil
}

func (e *envelope) source() chain.Source {
	key := chain.KeyRef{Family: bursar.Family(e.Family), Branch: e.Branch, Index: e.Index}
	return chain.Source{Key: key, Base: e.From.String()}
}

// Inspect reads an unsigned transaction: one plain payment, or one transfer(address,uint256) call of a listed token.
// Anything else – other call data, an access list, value sent along with tokens, another chain id – is an error.
func (r *Rules) Inspect(unsigned []byte) (chain.Contents, error) {
	contents, err := r.inspect(unsigned)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	return contents, nil
}

func (r *Rules) inspect(unsigned []byte) (contents chain.Contents, err error) {
	e, p, err := r.unpack(unsigned)
	if err != nil {
		return contents, err
	}
	payment, err := r.payment(p)
	if err != nil {
		return contents, err
	}
	fee, err := p.fee()
	if err != nil {
		return contents, fmt.Errorf("fee: %w", err)
	}
	digest := ethkey.Keccak256(e.Payload)
	return chain.Contents{
		Payments:     []chain.Payment{payment},
		Fee:          fee,
		Weight:       p.Gas,
		Inputs:       []chain.Input{{Source: e.source(), Digest: digest[:]}},
		Reservations: []string{fmt.Sprintf("%s/%d", e.source().Base, p.Nonce)},
	}, nil
}

// payment reads the payment that a payload makes.
func (r *Rules) payment(p payload) (chain.Payment, error) {
	if len(p.Access) != 0 || p.Tip.Cmp(p.MaxFee) > 0 || p.To == (address{}) {
		return chain.Payment{}, fmt.Errorf("%w: the transaction has an access list, a tip above the fee or no receiver",
			errUnsigned)
	}
	if len(p.Data) == 0 {
		amount, err := bursar.AmountFromBig(p.Value)
		if err != nil {
			return chain.Payment{}, fmt.Errorf("value: %w", err)
		}
		return chain.Payment{Address: bursar.Address{Base: p.To.String()}, Amount: amount}, nil
	}
	token, listed := r.tokens[p.To]
	to, amount, ok := readTransfer(p.Data)
	if !listed || !ok || p.Value.Sign() != 0 || to == (address{}) {
		return chain.Payment{}, fmt.Errorf("%w: its call data is not a transfer of a listed token", errUnsigned)
	}
	return chain.Payment{Address: bursar.Address{Base: to.String()}, Contract: token.Contract, Amount: amount}, nil
}

// fee returns the most that a payload can cost.
func (p *payload) fee() (bursar.Amount, error) {
	price, err := bursar.AmountFromBig(p.MaxFee)
	if err != nil {
		return bursar.Amount{}, err
	}
	return price.Mul(p.Gas)
}

// Assemble accepts one signature of 65 bytes (R, S, recovery id) by the unsigned transaction's source, with S in the
// lower half (EIP-2).
func (r *Rules) Assemble(unsigned chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	tx, err := r.assemble(unsigned.Bytes, signatures)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	return tx, nil
}

func (r *Rules) assemble(unsigned []byte, signatures [][]byte) (chain.SignedTx, error) {
	if _, err := r.inspect(unsigned); err != nil {
		return chain.SignedTx{}, err
	}
	e, p, err := r.unpack(unsigned)
	if err != nil {
		return chain.SignedTx{}, err
	}
	if len(signatures) != 1 {
		return chain.SignedTx{}, fmt.Errorf("%w: got %d signatures, want one", ethkey.ErrSignature, len(signatures))
	}
	return seal(e, p, signatures[0])
}

// seal checks a signature and appends it to the payload.
func seal(e envelope, p payload, signature []byte) (chain.SignedTx, error) {
	signer, err := ethkey.Signer(ethkey.Keccak256(e.Payload), signature)
	if err != nil {
		return chain.SignedTx{}, err
	}
	if signer != e.From {
		return chain.SignedTx{}, fmt.Errorf("%w: the signature was made by %s, want %s", ethkey.ErrSignature,
			address(signer), e.From)
	}
	raw, err := p.sealed(signature)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("encode: %w", err)
	}
	return chain.SignedTx{TxID: keccak(raw).String(), Raw: raw}, nil
}

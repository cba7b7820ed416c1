package solana

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// envelope is the stored form of an unsigned transaction: the message to sign, with which key, and the age of its
// blockhash.
type envelope struct {
	branch, index uint32
	slot          uint64 // the slot of the block that gave the message's blockhash
	lastHeight    uint64 // the last block height (not slot) at which the blockhash is valid
	message       []byte
}

const (
	envelopeVersion = 1
	envelopeHeader  = 1 + 4 + 4 + 8 + 8
)

var errUnsigned = errors.New("not an unsigned transaction of this chain")

func (e *envelope) pack() []byte {
	out := []byte{envelopeVersion}
	out = binary.LittleEndian.AppendUint32(out, e.branch)
	out = binary.LittleEndian.AppendUint32(out, e.index)
	out = binary.LittleEndian.AppendUint64(out, e.slot)
	out = binary.LittleEndian.AppendUint64(out, e.lastHeight)
	return append(out, e.message...)
}

// unpack reads the output of pack.
func unpack(unsigned []byte) (*envelope, *message, error) {
	if len(unsigned) < envelopeHeader || unsigned[0] != envelopeVersion {
		return nil, nil, errUnsigned
	}
	e := &envelope{
		branch: binary.LittleEndian.Uint32(unsigned[1:]), index: binary.LittleEndian.Uint32(unsigned[5:]),
		slot: binary.LittleEndian.Uint64(unsigned[9:]), lastHeight: binary.LittleEndian.Uint64(unsigned[17:]),
		message: unsigned[envelopeHeader:],
	}
	m, err := decodeMessage(e.message)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	return e, m, nil
}

// Inspect reads an unsigned transaction: transfers of the native asset by one payer with a compute budget. Any other
// message is an error.
func (r *Rules) Inspect(unsigned []byte) (chain.Contents, error) {
	e, m, err := unpack(unsigned)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	contents, err := m.contents()
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	source := chain.Source{Key: chain.KeyRef{Family: r.cfg.Family, Branch: e.branch, Index: e.index},
		Base: m.payer.String()}
	contents.Inputs = []chain.Input{{Source: source, Digest: e.message}}
	return contents, nil
}

// InspectSigned reads SignedTx.Raw as Inspect reads the unsigned bytes; it leaves Inputs empty.
func (r *Rules) InspectSigned(raw []byte) (chain.Contents, error) {
	_, body, err := split(raw)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	m, err := decodeMessage(body)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	return m.contents()
}

// contents returns what a message pays and costs. Its weight is its limit of compute units.
func (m *message) contents() (chain.Contents, error) {
	if m.limit == 0 || m.limit > maxUnits || m.payer == (key{}) {
		return chain.Contents{}, fmt.Errorf("%w: the limit of %d compute units is too high or too low", errUnsigned,
			m.limit)
	}
	fee, err := m.fee()
	if err != nil {
		return chain.Contents{}, err
	}
	contents := chain.Contents{Fee: bursar.Units(fee), Weight: uint64(m.limit)}
	for _, t := range m.transfers {
		contents.Payments = append(contents.Payments, chain.Payment{
			Address: bursar.Address{Base: t.to.String()}, Amount: bursar.Units(t.lamports),
		})
	}
	return contents, nil
}

// fee returns the exact cost of a message: for its only signature, and for all compute units that it reserves, rounded
// up (Agave: compute_budget, get_prioritization_fee). In v1 the message contains the second part itself (SIMD-0385).
func (m *message) fee() (uint64, error) {
	priority := m.priority
	if m.format != v1 {
		var err error
		if priority, err = priorityOf(m.price, m.limit); err != nil {
			return 0, err
		}
	}
	fee, carry := bits.Add64(priority, lamportsPerSignature, 0)
	if carry != 0 {
		return 0, fmt.Errorf("%w: the price of %d is too high", errUnsigned, m.price)
	}
	return fee, nil
}

// priorityOf converts a price for each unit into a price for all units, in lamports.
func priorityOf(price uint64, limit uint32) (uint64, error) {
	high, low := bits.Mul64(price, uint64(limit))
	low, carry := bits.Add64(low, microLamports-1, 0)
	high += carry
	if high >= microLamports {
		return 0, fmt.Errorf("%w: the price of %d is too high", errUnsigned, price)
	}
	priority, _ := bits.Div64(high, low, microLamports)
	return priority, nil
}

// Assemble accepts one signature of 64 bytes by the unsigned transaction's payer. An unsigned transaction has only one
// valid signature (RFC 8032).
func (r *Rules) Assemble(unsigned chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	if _, err := r.Inspect(unsigned.Bytes); err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	e, m, err := unpack(unsigned.Bytes)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	if len(signatures) != 1 || len(signatures[0]) != len(signature{}) {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w: want one signature of 64 bytes", errSignature)
	}
	if !ed25519.Verify(m.payer[:], e.message, signatures[0]) {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w: the signature was not made by %s", errSignature, m.payer)
	}
	raw := m.transaction(signatures[0], e.message)
	if len(raw) > m.mostBytes() {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w: %d bytes are too many", errUnsigned, len(raw))
	}
	return chain.SignedTx{TxID: signature(signatures[0]).String(), Raw: raw}, nil
}

var errSignature = errors.New("invalid signature")

// opened returns the signature and the format of a signed transaction, of ours or of a cold wallet's.
func opened(raw []byte) (signature, format, error) {
	sig, m, err := open(raw)
	if err == nil {
		return sig, m.format, nil
	}
	if t, cold := parseCold(raw); cold == nil && t.signed() {
		return t.sig, t.format, nil
	}
	return sig, "", err
}

// open splits a signed transaction of ours into its parts and checks its signature.
func open(raw []byte) (signature, *message, error) {
	sig, body, err := split(raw)
	if err != nil {
		return sig, nil, err
	}
	m, err := decodeMessage(body)
	if err != nil {
		return sig, nil, err
	}
	if !ed25519.Verify(m.payer[:], body, sig[:]) {
		return sig, nil, fmt.Errorf("%w: the signature was not made by %s", errSignature, m.payer)
	}
	return sig, m, nil
}

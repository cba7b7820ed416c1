package xrpl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// envelope is the stored form of an unsigned transaction: what is to be signed, and by whom.
type envelope struct {
	Key     chain.KeyRef
	Since   uint32 // the validated ledger at which it was built: it is in none up to that one
	Payload []byte // the serialized transaction without its signature
}

const (
	envelopeVersion = 1
	envelopeHead    = 1 + 4 + 4 + 4 + 1 // version, branch, index, since, length of the family's name
)

var errUnsigned = errors.New("not an unsigned transaction of this chain")

func (e envelope) encode() []byte {
	b := []byte{envelopeVersion}
	b = binary.BigEndian.AppendUint32(b, e.Key.Branch)
	b = binary.BigEndian.AppendUint32(b, e.Key.Index)
	b = binary.BigEndian.AppendUint32(b, e.Since)
	b = append(append(b, byte(len(e.Key.Family))), e.Key.Family...)
	return append(b, e.Payload...)
}

// unpack reads an unsigned transaction, which must be a payment as Build makes them: a full amount, an expiry, no other
// flag.
func (r *Rules) unpack(unsigned []byte) (e envelope, p payment, err error) {
	if len(unsigned) < envelopeHead || unsigned[0] != envelopeVersion {
		return e, p, fmt.Errorf("%w: unknown version", errUnsigned)
	}
	family, rest := int(unsigned[envelopeHead-1]), unsigned[envelopeHead:]
	if len(rest) < family || bursar.Family(rest[:family]) != r.cfg.Family {
		return e, p, fmt.Errorf("%w: the family is malformed", errUnsigned)
	}
	e.Key = chain.KeyRef{Family: r.cfg.Family, Branch: binary.BigEndian.Uint32(unsigned[1:]),
		Index: binary.BigEndian.Uint32(unsigned[5:])}
	e.Since, e.Payload = binary.BigEndian.Uint32(unsigned[9:]), rest[family:]
	if p, err = parsePayment(e.Payload); err != nil {
		return e, p, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	return e, p, r.sound(e, p)
}

func (r *Rules) sound(e envelope, p payment) error {
	switch {
	case p.Signature != nil || len(p.Signers) > 0:
		return fmt.Errorf("%w: the transaction is already signed", errUnsigned)
	case p.Flags != fullyCanonical:
		return fmt.Errorf("%w: its flags are %#x", errUnsigned, p.Flags)
	case p.LastLedger == 0 || e.Since >= p.LastLedger || p.LastLedger-e.Since > maxPatience:
		return fmt.Errorf("%w: its range of ledgers, %d to %d, is invalid", errUnsigned, e.Since, p.LastLedger)
	case p.Sequence == 0 || p.Amount == 0 || p.Fee == 0:
		return fmt.Errorf("%w: sequence, amount or fee is zero", errUnsigned)
	case p.NetworkID != r.namedNetwork():
		return fmt.Errorf("%w: network %d is not the configured one", errUnsigned, p.NetworkID)
	case len(p.SigningKey) != keySize || accountOf(p.SigningKey) != p.Account || p.Account == p.Destination:
		return fmt.Errorf("%w: its key does not belong to its account, or it pays itself", errUnsigned)
	case !bytes.Equal(p.encode(), e.Payload):
		return fmt.Errorf("%w: the encoding is not canonical", errUnsigned)
	}
	return nil
}

// namedNetwork returns the required NetworkID of a transaction: the ledger refuses the field on networks up to 1024.
func (r *Rules) namedNetwork() uint32 {
	if r.cfg.NetworkID > lastBareNetwork {
		return r.cfg.NetworkID
	}
	return 0
}

// Inspect reads an unsigned transaction's unsigned bytes. A payment's fee is for the whole transaction, so its weight
// is 1.
func (r *Rules) Inspect(unsigned []byte) (chain.Contents, error) {
	e, p, err := r.unpack(unsigned)
	if err != nil {
		return chain.Contents{}, fmt.Errorf("inspect: %w", err)
	}
	to := bursar.Address{Base: p.Destination.String()}
	if p.Tag != nil {
		to.Memo, to.HasMemo = *p.Tag, true
	}
	digest := signingHash(e.Payload)
	return chain.Contents{
		Payments:     []chain.Payment{{Address: to, Amount: bursar.Units(p.Amount)}},
		Fee:          bursar.Units(p.Fee),
		Weight:       1,
		Inputs:       []chain.Input{{Source: chain.Source{Key: e.Key, Base: p.Account.String()}, Digest: digest[:]}},
		Reservations: []string{fmt.Sprintf("%s/%d", p.Account, p.Sequence)},
	}, nil
}

// signingHash returns the hash that a single signature signs.
func signingHash(payload []byte) hash { return sha512Half("STX\x00", payload) }

// txID returns the id of a signed transaction.
func txID(signed []byte) hash { return sha512Half("TXN\x00", signed) }

var errSignature = errors.New("invalid signature")

// Assemble accepts one signature of 65 bytes (R, S, recovery id) by the unsigned transaction's key, with S in the lower
// half: others are not canonical and would give a second transaction id.
func (r *Rules) Assemble(unsigned chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	tx, err := r.assemble(unsigned.Bytes, signatures)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	return tx, nil
}

func (r *Rules) assemble(unsigned []byte, signatures [][]byte) (chain.SignedTx, error) {
	e, p, err := r.unpack(unsigned)
	if err != nil {
		return chain.SignedTx{}, err
	}
	if len(signatures) != 1 {
		return chain.SignedTx{}, fmt.Errorf("%w: got %d signatures, want one", errSignature, len(signatures))
	}
	if p.Signature, err = seal(signingHash(e.Payload), p.SigningKey, signatures[0]); err != nil {
		return chain.SignedTx{}, err
	}
	raw := p.encode()
	return chain.SignedTx{TxID: txID(raw).String(), Raw: raw}, nil
}

// seal checks a signature against its key and encodes it in DER.
func seal(digest hash, key, signature []byte) ([]byte, error) {
	if len(signature) != 65 || signature[64] > 1 {
		return nil, fmt.Errorf("%w: got %d bytes, want 65 with a recovery id of 0 or 1", errSignature, len(signature))
	}
	var rr, ss btcec.ModNScalar
	if rr.SetByteSlice(signature[:32]) || ss.SetByteSlice(signature[32:64]) || rr.IsZero() || ss.IsZero() ||
		ss.IsOverHalfOrder() {
		return nil, fmt.Errorf("%w: R or S is out of range", errSignature)
	}
	const compact = 27 + 4 // the first byte of the compact form for recovery id 0 and a short public key
	signer, _, err := ecdsa.RecoverCompact(append([]byte{compact + signature[64]}, signature[:64]...), digest[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSignature, err)
	}
	if !bytes.Equal(signer.SerializeCompressed(), key) {
		return nil, fmt.Errorf("%w: the signature was made by another key", errSignature)
	}
	return ecdsa.NewSignature(&rr, &ss).Serialize(), nil
}

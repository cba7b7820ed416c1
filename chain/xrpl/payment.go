package xrpl

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// payment is a transaction of type Payment that delivers XRP: the only type that this adapter makes.
type payment struct {
	NetworkID   uint32 // 0: absent
	Flags       uint32
	Sequence    uint32
	Tag         *uint32
	LastLedger  uint32 // 0: none
	Amount      uint64 // drops
	Fee         uint64 // drops
	SigningKey  []byte // 33 bytes; empty where signers sign, and before it is known who signs
	Signature   []byte // DER, or 64 bytes of ed25519; nil before signing
	Account     accountID
	Destination accountID
	Signers     []signature // of a list of signers, in ascending order of their accounts
}

// signature is one of several signers'.
type signature struct {
	Account   accountID
	Key       []byte // 33 bytes
	Signature []byte
}

// fullyCanonical is the flag tfFullyCanonicalSig. The adjacent flag, which would make a payment partial, is never set.
const fullyCanonical = 0x8000_0000

// Field headers: type in the upper half, field code in the lower, or in a byte of its own from 16 on. They are in the
// order of (type, code), which is the order of the encoding (rippled's SField.cpp).
const (
	fieldType        = 0x12   // UInt16 2
	fieldNetworkID   = 0x21   // UInt32 1
	fieldFlags       = 0x22   // UInt32 2
	fieldSequence    = 0x24   // UInt32 4
	fieldTag         = 0x2e   // UInt32 14
	fieldLastLedger  = 0x201b // UInt32 27
	fieldAmount      = 0x61   // Amount 1
	fieldFee         = 0x68   // Amount 8
	fieldSigningKey  = 0x73   // Blob 3
	fieldSignature   = 0x74   // Blob 4
	fieldAccount     = 0x81   // AccountID 1
	fieldDestination = 0x83   // AccountID 3
	fieldSigner      = 0xe010 // STObject 16
	fieldObjectEnd   = 0xe1   // STObject 1
	fieldSigners     = 0xf3   // STArray 3
	fieldArrayEnd    = 0xf1   // STArray 1
)

const (
	typePayment = 0
	// positiveXRP marks an Amount as drops (bit 63 clear) above zero (bit 62).
	positiveXRP = 1 << 62
	// maxDER is the maximum length of a canonical signature: two numbers of 33 bytes.
	maxDER = 72
	// keySize is that of a public key: compressed secp256k1, or ed25519 behind a byte 0xed.
	keySize = 33
	// maxSigners is what a list of signers has at most (amendment ExpandedSignerList).
	maxSigners = 32
)

// encode returns the only encoding of a payment.
func (p *payment) encode() []byte {
	b := []byte{fieldType, 0, typePayment}
	u32 := func(header int, value uint32) {
		if header > 0xff {
			b = append(b, byte(header>>8))
		}
		b = binary.BigEndian.AppendUint32(append(b, byte(header)), value)
	}
	if p.NetworkID != 0 {
		u32(fieldNetworkID, p.NetworkID)
	}
	u32(fieldFlags, p.Flags)
	u32(fieldSequence, p.Sequence)
	if p.Tag != nil {
		u32(fieldTag, *p.Tag)
	}
	if p.LastLedger != 0 {
		u32(fieldLastLedger, p.LastLedger)
	}
	b = binary.BigEndian.AppendUint64(append(b, fieldAmount), positiveXRP|p.Amount)
	b = binary.BigEndian.AppendUint64(append(b, fieldFee), positiveXRP|p.Fee)
	b = blob(b, fieldSigningKey, p.SigningKey)
	if p.Signature != nil {
		b = blob(b, fieldSignature, p.Signature)
	}
	b = blob(b, fieldAccount, p.Account[:])
	return p.encodeSigners(blob(b, fieldDestination, p.Destination[:]))
}

func (p *payment) encodeSigners(b []byte) []byte {
	if len(p.Signers) == 0 {
		return b
	}
	b = append(b, fieldSigners)
	for _, s := range p.Signers {
		b = append(b, fieldSigner>>8, fieldSigner&0xff)
		b = blob(b, fieldSigningKey, s.Key)
		b = blob(b, fieldSignature, s.Signature)
		b = append(blob(b, fieldAccount, s.Account[:]), fieldObjectEnd)
	}
	return append(b, fieldArrayEnd)
}

func blob(b []byte, header byte, value []byte) []byte {
	return append(append(b, header, byte(len(value))), value...)
}

var errPayment = errors.New("not a payment of XRP")

// parsePayment reads the output of encode and refuses anything else: no other field, order or length.
func parsePayment(raw []byte) (payment, error) {
	r := reader{left: raw}
	var p payment
	if !r.is(fieldType) || r.u16() != typePayment {
		return p, fmt.Errorf("%w: the transaction is of another type", errPayment)
	}
	if r.is(fieldNetworkID) {
		p.NetworkID = r.u32()
	}
	r.want(fieldFlags)
	p.Flags = r.u32()
	r.want(fieldSequence)
	p.Sequence = r.u32()
	if r.is(fieldTag) {
		tag := r.u32()
		p.Tag = &tag
	}
	if r.is(fieldLastLedger) {
		p.LastLedger = r.u32()
	}
	r.want(fieldAmount)
	p.Amount = r.drops()
	r.want(fieldFee)
	p.Fee = r.drops()
	r.want(fieldSigningKey)
	p.SigningKey = r.key()
	if r.is(fieldSignature) {
		p.Signature = r.blob(maxDER)
	}
	r.want(fieldAccount)
	r.fixed(p.Account[:])
	r.want(fieldDestination)
	r.fixed(p.Destination[:])
	p.Signers = r.signers()
	if r.bad || len(r.left) > 0 {
		return payment{}, fmt.Errorf("%w: a field is missing, malformed or too many", errPayment)
	}
	return p, nil
}

// reader takes fields from a serialized transaction. After the first error everything it returns is zero.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.left) < n {
		r.bad = true
		return make([]byte, n)
	}
	part := r.left[:n]
	r.left = r.left[n:]
	return part
}

// is consumes a field's header if it is the next one.
func (r *reader) is(header int) bool {
	if header > 0xff {
		if len(r.left) < 2 || int(binary.BigEndian.Uint16(r.left)) != header {
			return false
		}
		r.take(2)
		return true
	}
	if len(r.left) < 1 || int(r.left[0]) != header {
		return false
	}
	r.take(1)
	return true
}

func (r *reader) want(header int) { r.bad = !r.is(header) || r.bad }

func (r *reader) u16() uint16 { return binary.BigEndian.Uint16(r.take(2)) }

func (r *reader) u32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

// drops reads a positive amount of XRP, at most the total supply.
func (r *reader) drops() uint64 {
	value := binary.BigEndian.Uint64(r.take(8))
	amount := value &^ positiveXRP
	if value&positiveXRP == 0 || maxDrops.Less(bursar.Units(amount)) {
		r.bad = true
	}
	return amount
}

func (r *reader) fixed(out []byte) {
	if r.take(1)[0] != byte(len(out)) {
		r.bad = true
	}
	copy(out, r.take(len(out)))
}

// key reads a public key, or the empty one.
func (r *reader) key() []byte {
	n := int(r.take(1)[0])
	if n != 0 && n != keySize {
		r.bad = true
		return nil
	}
	return append([]byte{}, r.take(n)...)
}

// signers reads the signatures of a list of signers, if there are any.
func (r *reader) signers() (list []signature) {
	if !r.is(fieldSigners) {
		return nil
	}
	for len(list) < maxSigners && r.is(fieldSigner) {
		var s signature
		r.want(fieldSigningKey)
		s.Key = r.key()
		r.want(fieldSignature)
		s.Signature = r.blob(maxDER)
		r.want(fieldAccount)
		r.fixed(s.Account[:])
		r.want(fieldObjectEnd)
		list = append(list, s)
	}
	r.want(fieldArrayEnd)
	r.bad = r.bad || len(list) == 0
	return list
}

func (r *reader) blob(most int) []byte {
	n := int(r.take(1)[0])
	if n == 0 || n > most {
		r.bad = true
		return nil
	}
	return append([]byte{}, r.take(n)...)
}

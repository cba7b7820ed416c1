package tron

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// payload is the content of a transaction before it is signed (Transaction.raw of java-tron's core/Tron.proto): one
// plain payment, or one call of a contract with call data. It has no memos or call values.
type payload struct {
	RefBytes   [2]byte // the last two bytes of a recent block's height
	RefHash    [8]byte // bytes 8 to 15 of its id; a transaction is valid only on a chain that has this block
	Expiration uint64  // milliseconds of the chain's clock
	Timestamp  uint64  // milliseconds; the chain ignores it
	FeeLimit   uint64  // sun
	Owner      address
	Target     address // the receiver of TRX, or the contract that is called
	Amount     uint64  // sun
	Data       []byte  // call data; none in a plain payment
	Permission uint64  // by which its signers sign; 0, the owner's, but for cold wallets
}

// Field numbers of core/Tron.proto and of the messages of core/contract.
const (
	rawRefBytes, rawRefHash, rawExpiration, rawContract, rawTimestamp, rawFeeLimit = 1, 4, 8, 11, 14, 18

	contractKind, contractParameter, contractPermission = 1, 2, 5

	anyType, anyValue = 1, 2

	transferKind, triggerKind = 1, 31

	paysOwner, paysTo, paysAmount        = 1, 2, 3 // TransferContract
	callsOwner, callsContract, callsData = 1, 2, 4 // TriggerSmartContract

	txRaw, txSignature = 1, 2
)

const typePrefix = "type.googleapis.com/protocol."

// encode returns the only encoding of a payload.
func (p *payload) encode() []byte {
	kind, name, body := uint64(transferKind), transferType, message(nil)
	body = body.bytes(paysOwner, p.Owner.bytes()).bytes(paysTo, p.Target.bytes())
	if p.Data == nil {
		body = body.number(paysAmount, p.Amount)
	} else {
		kind, name = triggerKind, triggerType
		body = body.bytes(callsData, p.Data)
	}
	parameter := message(nil).bytes(anyType, []byte(typePrefix+name)).bytes(anyValue, body)
	contract := message(nil).number(contractKind, kind).bytes(contractParameter, parameter).number(contractPermission,
		p.Permission)
	return message(nil).bytes(rawRefBytes, p.RefBytes[:]).bytes(rawRefHash, p.RefHash[:]).number(rawExpiration,
		p.Expiration).
		bytes(rawContract, contract).number(rawTimestamp, p.Timestamp).number(rawFeeLimit, p.FeeLimit)
}

// decodePayload is decodeCold of what the owner's own permission signs, which is the only one of addresses of ours.
func decodePayload(raw []byte) (payload, error) {
	p, err := decodeCold(raw)
	if err == nil && p.Permission != 0 {
		return payload{}, fmt.Errorf("%w: permission %d signs it", errEncoding, p.Permission)
	}
	return p, err
}

// decodeCold reads the output of encode and refuses anything else: unknown data is lost in the payload, whose own
// encoding then differs from the bytes.
func decodeCold(raw []byte) (p payload, err error) {
	f, err := readFields(raw)
	if err != nil {
		return p, err
	}
	if copy(p.RefBytes[:], f.strings[rawRefBytes]) != 2 || copy(p.RefHash[:], f.strings[rawRefHash]) != 8 {
		return p, fmt.Errorf("%w: the block reference is invalid", errEncoding)
	}
	p.Expiration, p.Timestamp, p.FeeLimit = f.numbers[rawExpiration], f.numbers[rawTimestamp], f.numbers[rawFeeLimit]
	contract, err := readFields(f.strings[rawContract])
	if err != nil {
		return p, err
	}
	p.Permission = contract.numbers[contractPermission]
	parameter, err := readFields(contract.strings[contractParameter])
	if err != nil {
		return p, err
	}
	body, err := readFields(parameter.strings[anyValue])
	if err != nil {
		return p, err
	}
	if err := p.body(contract.numbers[contractKind], body); err != nil {
		return p, err
	}
	if max(p.Expiration, p.Timestamp, p.FeeLimit, p.Amount) > math.MaxInt64 {
		return p, fmt.Errorf("%w: the payment has a negative number", errEncoding)
	}
	if !bytes.Equal(p.encode(), raw) {
		return p, fmt.Errorf("%w: the transaction contains more than a payment", errEncoding)
	}
	return p, nil
}

// body reads the only contract.
func (p *payload) body(kind uint64, body fields) error {
	var ok1, ok2 bool
	switch kind {
	case transferKind:
		p.Owner, ok1 = addressOf(body.strings[paysOwner])
		p.Target, ok2 = addressOf(body.strings[paysTo])
		p.Amount = body.numbers[paysAmount]
	case triggerKind:
		p.Owner, ok1 = addressOf(body.strings[callsOwner])
		p.Target, ok2 = addressOf(body.strings[callsContract])
		p.Data = append([]byte{}, body.strings[callsData]...)
	}
	if !ok1 || !ok2 {
		return fmt.Errorf("%w: unknown contract type %d", errEncoding, kind)
	}
	return nil
}

// refer sets the block that the transaction builds on (TAPOS).
func (p *payload) refer(h *header) {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], h.height())
	copy(p.RefBytes[:], number[6:])
	copy(p.RefHash[:], h.ID[8:16])
}

// seal returns the bytes of the signed transaction.
func seal(raw, signature []byte) []byte {
	return message(nil).bytes(txRaw, raw).bytes(txSignature, signature)
}

const (
	signatureSize = 65
	// resultSize is what java-tron adds to a transaction's bytes for its result (Constant.MAX_RESULT_SIZE_IN_TX).
	resultSize = 64
)

// size returns the bandwidth that a transaction with these raw bytes uses.
func size(raw []byte) uint64 {
	return uint64(len(seal(raw, make([]byte, signatureSize)))) + resultSize
}

package tron

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// kind is a kind of contract (ContractType of java-tron's core/Tron.proto).
type kind int64

// The kinds that the simulator executes.
const (
	transfer kind = 1
	trigger  kind = 31
	update   kind = 46
)

func (k kind) String() string {
	switch k {
	case transfer:
		return "TransferContract"
	case trigger:
		return "TriggerSmartContract"
	case update:
		return "AccountPermissionUpdateContract"
	}
	return fmt.Sprintf("Contract%d", int64(k))
}

const typePrefix = "type.googleapis.com/protocol."

// transaction is a decoded transaction.
type transaction struct {
	id         [32]byte
	bytes      []byte // all bytes, without results
	raw        []byte
	signatures [][]byte

	refBytes, refHash               []byte
	expiration, timestamp, feeLimit int64
	memo                            []byte
	contracts                       int
	kind                            kind
	permission                      int64
	owner, to                       common.Address // to: the receiver, or the contract
	amount                          int64          // or the call's value
	data                            []byte
	body                            []byte // of the contract
	readable                        bool   // the kind is supported and the addresses are valid
}

func (t *transaction) name() string { return hex.EncodeToString(t.id[:]) }

// Fields of Transaction and of its raw part.
const (
	txRaw, txSignature                                                     = 1, 2
	rawRefBytes, rawRefHash, rawExpiration, rawMemo                        = 1, 4, 8, 10
	rawContract, rawTimestamp, rawFeeLimit                                 = 11, 14, 18
	contractKind, contractParameter, contractPermission, anyType, anyValue = 1, 2, 5, 1, 2
)

// parse reads a whole transaction; results are discarded, as java-tron does before it counts bytes.
func parse(whole []byte) (*transaction, error) {
	fields, err := read(whole)
	if err != nil {
		return nil, err
	}
	t := &transaction{raw: last(fields, txRaw).bytes}
	if len(t.raw) == 0 {
		return nil, errors.New("the transaction has no raw data")
	}
	t.id = sha256.Sum256(t.raw)
	t.bytes = message(nil).bytes(txRaw, t.raw)
	for _, s := range fields[txSignature] {
		t.signatures = append(t.signatures, s.bytes)
		t.bytes = message(t.bytes).bytes(txSignature, s.bytes)
	}
	return t, t.readRaw()
}

func (t *transaction) readRaw() error {
	raw, err := read(t.raw)
	if err != nil {
		return err
	}
	t.refBytes, t.refHash, t.memo = last(raw, rawRefBytes).bytes, last(raw, rawRefHash).bytes, last(raw, rawMemo).bytes
	t.expiration, t.timestamp = last(raw, rawExpiration).number, last(raw, rawTimestamp).number
	t.feeLimit = last(raw, rawFeeLimit).number
	t.contracts = len(raw[rawContract])
	contract, err := read(last(raw, rawContract).bytes)
	if err != nil {
		return err
	}
	t.kind, t.permission = kind(last(contract, contractKind).number), last(contract, contractPermission).number
	parameter, err := read(last(contract, contractParameter).bytes)
	if err != nil {
		return err
	}
	t.body = last(parameter, anyValue).bytes
	body, err := read(t.body)
	if err != nil {
		return err
	}
	var ok1, ok2 bool
	t.owner, ok1 = fromBytes(last(body, 1).bytes)
	if t.kind == update {
		t.to, ok2 = t.owner, ok1
	} else {
		t.to, ok2 = fromBytes(last(body, 2).bytes)
		t.amount = last(body, 3).number
	}
	if t.kind == trigger {
		t.data = last(body, 4).bytes
	}
	t.readable = ok1 && ok2 && string(last(parameter, anyType).bytes) == typePrefix+t.kind.String() &&
		(t.kind == transfer || t.kind == trigger || t.kind == update)
	return nil
}

// encodeRaw encodes the raw part.
func (t *transaction) encodeRaw() []byte {
	body := message(nil).bytes(1, toBytes(t.owner)).bytes(2, toBytes(t.to)).number(3, t.amount).bytes(4, t.data)
	if t.kind == update {
		body = t.body
	}
	parameter := message(nil).bytes(anyType, []byte(typePrefix+t.kind.String())).bytes(anyValue, body)
	contract := message(nil).number(contractKind, int64(t.kind)).bytes(contractParameter, parameter).
		number(contractPermission, t.permission)
	return message(nil).bytes(rawRefBytes, t.refBytes).bytes(rawRefHash, t.refHash).number(rawExpiration, t.expiration).
		bytes(rawMemo, t.memo).bytes(rawContract, contract).number(rawTimestamp, t.timestamp).number(rawFeeLimit, t.feeLimit)
}

// build completes a transaction from its members; key may be nil.
func (t *transaction) build(key *ecdsa.PrivateKey) (*transaction, error) {
	raw := t.encodeRaw()
	whole := message(nil).bytes(txRaw, raw)
	if key != nil {
		id := sha256.Sum256(raw)
		signature, err := crypto.Sign(id[:], key)
		if err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
		signature[64] += 27
		whole = whole.bytes(txSignature, signature)
	}
	return parse(whole)
}

// signedBy returns whose key made a signature.
func (t *transaction) signedBy(given []byte) (by common.Address, ok bool) {
	if len(given) < 65 {
		return by, false
	}
	signature := append([]byte{}, given[:65]...)
	if signature[64] >= 27 {
		signature[64] -= 27
	}
	key, err := crypto.SigToPub(t.id[:], signature)
	if err != nil {
		return by, false
	}
	return crypto.PubkeyToAddress(*key), true
}

// resultSize is the number of bytes that java-tron adds for the result (Constant.MAX_RESULT_SIZE_IN_TX).
const resultSize = 64

func (t *transaction) size() int64 { return int64(len(t.bytes)) + resultSize }

package evm

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// What a Safe of version 1.4.1 is (safe-global/safe-smart-account, contracts/Safe.sol). Its owners sign the EIP-712
// hash of a SafeTx; anybody may send execTransaction with enough signatures, in the order of the owners' addresses.
const (
	safeVersion   = "1.4.1"
	safeFormat    = 1
	maxSafeOwners = 50
	// safeGas and safeOwnerGas bound the gas of execTransaction with a plain payment or a transfer of tokens. What is
	// not used is not paid.
	safeGas, safeOwnerGas = 250_000, 10_000
)

// The types that its EIP-712 hashes begin with, and the call.
const (
	safeDomainType = "EIP712Domain(uint256 chainId,address verifyingContract)"
	safeTxType     = "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas," +
		"uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)"
	execTransaction = "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)"
)

// safeTx is a transaction of a Safe, in the order of its EIP-712 type. Everything from Operation to Refunds is zero in
// one that is accepted: an operation of 1 (DELEGATECALL) runs the code of others as the Safe, and a gas price refunds
// anyone who sends it.
type safeTx struct {
	To        address
	Value     *big.Int
	Data      []byte
	Operation uint64
	SafeGas   uint64
	BaseGas   uint64
	GasPrice  *big.Int
	GasToken  address
	Refunds   address
	Nonce     uint64
}

// safeSignature is an owner's signature, with the recovery id 0 or 1 as its last byte.
type safeSignature struct {
	Owner     address
	Signature []byte
}

// safeForm is a SafeTx with what is needed to sign and to send it, in the order of its RLP.
type safeForm struct {
	Version   uint64
	ChainID   uint64
	Safe      address
	Tx        safeTx
	Owners    []address // in ascending order, each once
	Threshold uint64
	Signed    []safeSignature // in the order of the owners, at most as many as the threshold
	Executor  address         // sends the call and pays its gas
	Nonce     uint64          // of the executor
	Tip       *big.Int
	MaxFee    *big.Int
	Gas       uint64
	Sent      []byte // the executor's signature, once there are enough of the owners'

	family bursar.Family // not encoded
}

// readSafe reads a SafeTx. RLP has one encoding for each value.
func (r *Rules) readSafe(safe address, data []byte) (*safeForm, error) {
	t := new(safeForm)
	if err := rlp.DecodeBytes(data, t); err != nil {
		return nil, fmt.Errorf("%w: %w", errCold, err)
	}
	t.family = r.cfg.Family
	switch again, err := t.encode(); {
	case err != nil || !bytes.Equal(again, data):
		return nil, fmt.Errorf("%w: the encoding is not canonical", errCold)
	case t.Version != safeFormat || t.Safe != safe:
		return nil, fmt.Errorf("%w: version %d of Safe %s, want %d of %s", errCold, t.Version, t.Safe, safeFormat, safe)
	case t.ChainID != r.cfg.ChainID:
		return nil, fmt.Errorf("%w: chain id %d, want %d", errCold, t.ChainID, r.cfg.ChainID)
	}
	if err := t.plain(); err != nil {
		return nil, err
	}
	return t, t.signatures()
}

// plain refuses what no refill has.
func (t *safeForm) plain() error {
	tx := t.Tx
	switch {
	case tx.Value.BitLen() > 256 || tx.GasPrice.BitLen() > 256:
		return fmt.Errorf("%w: its value or gas price has more than 256 bits", errCold)
	case tx.Operation != 0:
		return fmt.Errorf("%w: operation %d, want 0 (CALL)", errCold, tx.Operation)
	case tx.SafeGas != 0 || tx.BaseGas != 0 || tx.GasPrice.Sign() != 0 || tx.GasToken != address{} ||
		tx.Refunds != address{}:
		return fmt.Errorf("%w: the Safe transaction refunds gas to its sender", errCold)
	case len(t.Owners) == 0 || len(t.Owners) > maxSafeOwners || t.Threshold == 0 ||
		t.Threshold > uint64(len(t.Owners)) || t.Executor == address{}:
		return fmt.Errorf("%w: %d of %d owners, sent by %s", errCold, t.Threshold, len(t.Owners), t.Executor)
	case !slices.IsSortedFunc(t.Owners, compare) || len(slices.Compact(slices.Clone(t.Owners))) != len(t.Owners):
		return fmt.Errorf("%w: its owners are not in ascending order, each once", errCold)
	case len(t.Signed) > int(t.Threshold):
		return fmt.Errorf("%w: %d signatures of owners, at most %d", errCold, len(t.Signed), t.Threshold)
	}
	return nil
}

func compare(a, b address) int { return bytes.Compare(a[:], b[:]) }

// signatures checks every signature.
func (t *safeForm) signatures() error {
	digest := t.hash()
	for i, s := range t.Signed {
		if i > 0 && compare(t.Signed[i-1].Owner, s.Owner) >= 0 || !slices.Contains(t.Owners, s.Owner) {
			return fmt.Errorf("%w: %s is no owner, or not in its place", errCold, s.Owner)
		}
		if err := madeBy(digest, s.Signature, s.Owner); err != nil {
			return err
		}
	}
	if len(t.Sent) == 0 {
		return nil
	}
	if !t.whole() {
		return fmt.Errorf("%w: the Safe transaction is sent before its owners signed", errCold)
	}
	call, err := t.call()
	if err != nil {
		return err
	}
	sent, err := call.digest()
	if err != nil {
		return err
	}
	return madeBy(sent, t.Sent, t.Executor)
}

// whole reports whether enough owners signed.
func (t *safeForm) whole() bool { return len(t.Signed) == int(t.Threshold) }

// hash returns what the owners sign: keccak256(0x19 0x01 ‖ domain ‖ SafeTx), as EIP-712 and the contract's
// encodeTransactionData have it.
func (t *safeForm) hash() hash {
	id, tx := bursar.Units(t.ChainID), t.Tx
	domain := keccak(words(keccak([]byte(safeDomainType)), hash(wordOf(id)), padded(t.Safe)))
	body := keccak(words(
		keccak([]byte(safeTxType)),
		padded(tx.To),
		big256(tx.Value),
		keccak(tx.Data),
		uintWord(tx.Operation),
		uintWord(tx.SafeGas),
		uintWord(tx.BaseGas),
		big256(tx.GasPrice),
		padded(tx.GasToken),
		padded(tx.Refunds),
		uintWord(tx.Nonce),
	))
	return keccak(slices.Concat([]byte{0x19, 0x01}, domain[:], body[:]))
}

func words(list ...hash) (data []byte) {
	for _, w := range list {
		data = append(data, w[:]...)
	}
	return data
}

func padded(a address) (w hash) {
	copy(w[12:], a[:])
	return w
}

func uintWord(n uint64) hash { return hash(wordOf(bursar.Units(n))) }

// big256 returns a number of at most 256 bits in a word.
func big256(n *big.Int) (w hash) {
	n.FillBytes(w[:])
	return w
}

// call returns the transaction that sends the call of the contract.
func (t *safeForm) call() (*payload, error) {
	var signatures []byte
	for _, s := range t.Signed {
		if len(s.Signature) != ethkey.SignatureSize {
			return nil, ethkey.ErrSignature
		}
		signatures = append(append(signatures, s.Signature[:64]...), s.Signature[64]+27)
	}
	tx := t.Tx
	selector := keccak([]byte(execTransaction))
	const head = 10 * 32
	data := packed(tx.Data)
	call := slices.Concat(selector[:4], words(padded(tx.To), big256(tx.Value), uintWord(head), uintWord(tx.Operation),
		uintWord(tx.SafeGas), uintWord(tx.BaseGas), big256(tx.GasPrice), padded(tx.GasToken), padded(tx.Refunds),
		uintWord(head+uint64(len(data)))), data, packed(signatures))
	return &payload{ChainID: t.ChainID, Nonce: t.Nonce, Tip: t.Tip, MaxFee: t.MaxFee, Gas: t.Gas, To: t.Safe,
		Value: new(big.Int), Data: call}, nil
}

// packed returns bytes as the ABI has them: their length, then themselves to whole words.
func packed(data []byte) []byte {
	size := uintWord(uint64(len(data)))
	return slices.Concat(size[:], data, make([]byte, (32-len(data)%32)%32))
}

func (t *safeForm) contents(r *Rules) (tx chain.ColdTx, err error) {
	zero := new(big.Int)
	payment, err := r.payment(payload{Tip: zero, MaxFee: zero, To: t.Tx.To, Value: t.Tx.Value, Data: t.Tx.Data})
	if err != nil {
		return tx, err
	}
	call, err := t.call()
	if err != nil {
		return tx, err
	}
	if call.Tip.Cmp(call.MaxFee) > 0 {
		return tx, fmt.Errorf("%w: its tip is above its fee", errCold)
	}
	fee, err := call.fee()
	if err != nil {
		return tx, err
	}
	digest := t.hash()
	tx = chain.ColdTx{
		Payments:     []chain.Payment{payment},
		Fee:          fee,
		Weight:       t.Gas,
		Reservations: []string{fmt.Sprintf("%s/%d", t.Safe, t.Tx.Nonce)},
		Notes: []chain.ColdNote{
			{Name: "chain id", Text: fmt.Sprint(t.ChainID)},
			{Name: "safe", Text: t.Safe.String()},
			{Name: "operation", Text: "0 (CALL)"},
			{Name: "safe hash", Text: digest.String()},
			{Name: "sent by", Text: t.Executor.String() + ", which pays the fee"},
		},
		Inputs: []chain.ColdInput{{Digest: digest[:], Need: int(t.Threshold), Keys: t.owners()}},
	}
	return tx, t.sending(call, &tx)
}

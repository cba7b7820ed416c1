package chain

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// Wrap puts what was asked of a chain before the error of the answer, if there is one: defer it with a pointer to the
// named result. errors.Is and errors.As find the error itself.
func Wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// The errors that adapters return.
var (
	ErrOffChain      = errors.New("the block is not on the best chain")
	ErrNoBlock       = errors.New("no such block")
	ErrRejected      = errors.New("the transaction can never become valid")
	ErrUnderpriced   = errors.New("the transaction's fee is too low for the node")
	ErrExternalNonce = errors.New("the nonce was used by an external transaction from the hot address")
	// ErrPruned: whether a transaction was included cannot be proven, because no endpoint keeps the history that would
	// show it.
	ErrPruned = errors.New("no endpoint keeps the history that would prove it")
)

// NeedsFundsError says that the payer has too little of an asset for now.
type NeedsFundsError struct {
	Contract string
	Missing  bursar.Amount
}

func (e *NeedsFundsError) Error() string {
	return fmt.Sprintf("%s units more are needed at the paying address", e.Missing)
}

// FeeLimitError says that a transaction would cost more than is allowed. The fee may fall, so the request waits; a
// batch may fit if it is split. Both amounts are in the native asset.
type FeeLimitError struct {
	Fee   bursar.Amount // the lowest possible fee
	Limit bursar.Amount // TxRequest.MaxFee or the chain's configured bound, whichever is lower
}

func (e *FeeLimitError) Error() string {
	return fmt.Sprintf("a fee of %s units is needed, at most %s are allowed", e.Fee, e.Limit)
}

// NeedsGasError says that an address needs an amount of the native asset before it can pay.
type NeedsGasError struct {
	Source Source
	Amount bursar.Amount
}

func (e *NeedsGasError) Error() string {
	return fmt.Sprintf("%s units of the native asset are needed for gas at %s", e.Amount, e.Source.Base)
}

// TooManyInputsError says that a request needs more UTXOs than one transaction may spend, although there is enough
// money: a smaller batch may fit, or a consolidation must come first.
type TooManyInputsError struct {
	Limit int // how many UTXOs one transaction may spend
	Cause error
}

func (e *TooManyInputsError) Error() string {
	if e.Cause != nil {
		return e.Cause.Error()
	}
	return fmt.Sprintf("more than %d UTXOs would be needed", e.Limit)
}

func (e *TooManyInputsError) Unwrap() error { return e.Cause }

// RefusedError says that a request can never be paid in this form. Reason may be shown to the customer.
type RefusedError struct {
	Below  bool // the amount is below what the network accepts
	Reason string

	// MayPass says that the refusal rests on the present state of the chain at one node, which may lag: it counts only if
	// it lasts.
	MayPass bool
}

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

// RefusedPaymentsError is a RefusedError of some of a request's payments; the others may be paid without them.
type RefusedPaymentsError struct {
	Refused  *RefusedError
	Payments []int // their positions in TxRequest.Payments, from 0
}

func (e *RefusedPaymentsError) Error() string { return e.Refused.Error() }

func (e *RefusedPaymentsError) Unwrap() error { return e.Refused }

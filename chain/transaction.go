package chain

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// Kind says why a transaction is made; a signer judges it by that.
type Kind string

// The kinds of outgoing transactions.
const (
	KindWithdrawal Kind = "withdrawal" // pays customers' orders, or one return of value that fits no wallet
	KindSweep      Kind = "sweep"      // collects a deposit address into the hot address
	KindGasTopUp   Kind = "gas_top_up" // gives a deposit address what its token sweep costs

	// KindConsolidation makes one UTXO at the hot address of many, on a chain of the UTXO model. Its one payment names the
	// most that may arrive there; the fee is taken out of it. Outbid, it keeps its UTXOs. It also takes a UTXO from under
	// another outgoing transaction of ours, which can never be included then.
	KindConsolidation Kind = "consolidation"
)

// TxRequest is what the core wants paid, with everything an adapter may use for it.
type TxRequest struct {
	ID       bursar.ID     `json:"id"` // the outgoing transaction's
	Kind     Kind          `json:"kind"`
	Payments []Payment     `json:"payments"` // a sweep has one, to the hot address; its Amount is all that there is, less the fee where the coin pays its own fee
	From     Source        `json:"from"`     // who pays, on a chain that uses the account model
	Change   Source        `json:"change"`   // where the rest returns to, on a chain that uses the UTXO model
	MaxFee   bursar.Amount `json:"maxFee"`   // refuse to draft above it; in the native asset

	UTXOs    []UTXO      `json:"coins,omitempty"` // what may be used, best first, on a chain that uses the UTXO model
	Nonce    *uint64     `json:"nonce,omitempty"` // the next one by our books; nil before the first
	Replaces *UnsignedTx `json:"-"`               // the unsigned transaction to replace, with the same claims and a higher fee; its Unsigned is empty where its bytes are not known

	// Reserved is what outgoing transactions that are not in a block yet take from the paying address, one item for each
	// asset, their highest fees counted in the native asset's; the transaction to replace is not among them. On a chain of
	// the account model an unsigned transaction may use only what the node's balance holds beyond it: the node does not
	// subtract what waits.
	Reserved []Reserve `json:"-"`
}

// Reserve is an amount of one asset that is spoken for.
type Reserve struct {
	Contract string // canonical; empty for the native asset
	Amount   bursar.Amount
}

// ReservedOf returns how much of an asset is spoken for.
func (o TxRequest) ReservedOf(contract string) bursar.Amount {
	for _, r := range o.Reserved {
		if r.Contract == contract {
			return r.Amount
		}
	}
	return bursar.Amount{}
}

// Free returns what of a balance of an asset nothing else is to take.
func (o TxRequest) Free(contract string, held bursar.Amount) bursar.Amount {
	return held.SubOrZero(o.ReservedOf(contract))
}

// Lacks returns how much a balance of an asset must grow before these amounts can be paid out of what is free.
func (o TxRequest) Lacks(contract string, held bursar.Amount, amounts ...bursar.Amount) (bursar.Amount, error) {
	needed, err := bursar.Sum(append(amounts, o.ReservedOf(contract))...)
	if err != nil {
		return bursar.Amount{}, fmt.Errorf("what a payment needs: %w", err)
	}
	return needed.SubOrZero(held), nil
}

// Payment is a value to be delivered.
type Payment struct {
	Address  bursar.Address `json:"address"`
	Contract string         `json:"contract,omitempty"`
	Amount   bursar.Amount  `json:"amount"`
}

// Source is an address of ours with the key that opens it.
type Source struct {
	Key  KeyRef `json:"key"`
	Base string `json:"base"`
	// Pub is the public key in hexadecimal, for chains whose transactions name it before they are signed (XRPL). It is
	// known of the hot address; elsewhere it may be empty.
	Pub string `json:"pub,omitempty"`
}

// Is reports whether two sources are the same address under the same key.
func (s Source) Is(other Source) bool { return s.Key == other.Key && s.Base == other.Base }

// UTXO is an unspent output of ours.
type UTXO struct {
	Outpoint    string        `json:"claim"` // "<txid>:<output>"
	Source      Source        `json:"source"`
	Amount      bursar.Amount `json:"amount"`
	Unconfirmed bool          `json:"unconfirmed,omitempty"` // own change that is in no block yet
}

// Thrifty is a chain that knows when transactions are cheap, so that what is in no hurry can wait for that.
type Thrifty interface {
	// Cheap reports whether a transaction costs little now, compared with what such transactions usually cost.
	Cheap(ctx context.Context) (bool, error)
}

// UnsignedTx is an unsigned transaction and what it uses up.
type UnsignedTx struct {
	Reservations []string      `json:"claims"`            // exclusive: UTXOs, "<base>/<nonce>", or another name where an expiring transaction uses up neither
	Bytes        []byte        `json:"unsigned"`          // in the adapter's own form, complete: Inspect needs nothing else
	Fee          bursar.Amount `json:"fee"`               // the most it can cost, in the native asset
	Expires      uint64        `json:"expires,omitempty"` // the final height (or the chain's clock) past which it can never be included; 0: never expires
}

// Contents is what a transaction really does, read from its bytes and not from the order.
type Contents struct {
	Payments []Payment     // every output or transfer, change included
	Fee      bursar.Amount // the most it can cost
	Weight   uint64        // vbytes, gas or the like, so that Fee/Weight is a rate
	Inputs   []Input
	// Claims names what the bytes themselves use up, as Draft.Claims does: of two transactions that share a claim, the
	// chain includes one at most. Empty where nothing of the kind binds a transaction.
	Reservations []string
}

// Input is one signature a transaction needs.
type Input struct {
	Source Source
	Digest []byte // what is signed: a 32-byte hash for secp256k1, the message for ed25519
}

// SignedTx is a transaction ready to be sent, and all that must be stored to send it again.
type SignedTx struct {
	TxID   string
	Raw    []byte
	Change []UTXO // outputs that return to us
}

// Signable is the pure part of an adapter that a signer runs by itself.
type Signable interface {
	Addresses
	// Inspect reads an unsigned transaction's unsigned bytes.
	Inspect(unsigned []byte) (Contents, error)
	// Assemble joins signatures, one for each Input in order, into the transaction, and checks them.
	Assemble(unsigned UnsignedTx, signatures [][]byte) (SignedTx, error)
}

// Transactions builds and sends transactions.
type Transactions interface {
	// Quote returns what paying costs now in the native asset. A *RefusedError says that the destination or amount can
	// never be paid: dust, a burn address, the token's own contract, a tag that is missing.
	Quote(ctx context.Context, payment Payment) (bursar.Amount, error)
	// Draft builds the order's transaction. It may return *NeedsFundsError, *NeedsGasError, *TooDearError,
	// *TooManyInputsError, *RefusedError (as a *RefusedPaymentsError where it is of some payments only) or
	// ErrExternalNonce; then it has used up nothing.
	Build(ctx context.Context, order TxRequest) (UnsignedTx, error)
	// Broadcast sends the bytes; sending them again is harmless, and "already known" or "already in a block" is nil.
	// ErrRejected: they can never become valid. ErrUnderpriced: valid, but too cheap for the node now. Any other error:
	// the outcome is unknown.
	Broadcast(ctx context.Context, tx SignedTx) error
	// Expired reports whether an unsigned transaction that is in no block can no more enter one, proven by the final
	// chain.
	Expired(ctx context.Context, unsigned UnsignedTx, txID string) (bool, error)
}

// Holdings answers what the final chain holds at addresses of ours, for sweeps and for reconciliation.
type Holdings interface {
	// Holdings returns the amount of an asset at each base as of the given block, in the order asked.
	Holdings(ctx context.Context, bases []string, contract string, at BlockRef) ([]bursar.Amount, error)
}

// Errors of the seam.
var (
	ErrOffChain      = errors.New("the block is not on the best chain")
	ErrNoBlock       = errors.New("no such block")
	ErrRejected      = errors.New("the transaction can never become valid")
	ErrUnderpriced   = errors.New("the transaction's fee is too low for the node")
	ErrExternalNonce = errors.New("the hot key has been used by somebody else")
	// ErrPruned: whether a transaction was included cannot be proven, because no endpoint keeps the history that would
	// show it.
	ErrPruned = errors.New("no endpoint keeps the history that would prove it")
)

// NeedsFundsError says that the paying side holds too little of an asset for now.
type NeedsFundsError struct {
	Contract string
	Missing  bursar.Amount
}

func (e *NeedsFundsError) Error() string {
	return fmt.Sprintf("%s units more are needed at the paying address", e.Missing)
}

// TooDearError says that a transaction would cost more than is allowed now. The price may fall, so the order waits; a
// batch may fit in smaller parts. Both amounts are in the native asset.
type TooDearError struct {
	Fee   bursar.Amount // the least that it would cost
	Limit bursar.Amount // Order.MaxFee or the chain's configured bound, whichever is lower
}

func (e *TooDearError) Error() string {
	return fmt.Sprintf("a fee of %s units is needed, at most %s are allowed", e.Fee, e.Limit)
}

// NeedsGasError says that an address must be given some of the native asset before it can pay.
type NeedsGasError struct {
	Source Source
	Amount bursar.Amount
}

func (e *NeedsGasError) Error() string {
	return fmt.Sprintf("%s units of the chain's coin are needed for gas at %s", e.Amount, e.Source.Base)
}

// TooManyInputsError says that an order cannot be paid with as many UTXOs as one transaction may use, though there is
// enough money: it needs smaller company, or consolidation first.
type TooManyInputsError struct {
	Limit int // how many one transaction may use
	Cause error
}

func (e *TooManyInputsError) Error() string {
	if e.Cause != nil {
		return e.Cause.Error()
	}
	return fmt.Sprintf("more than %d UTXOs would be needed", e.Limit)
}

func (e *TooManyInputsError) Unwrap() error { return e.Cause }

// RefusedError says that an order can never be paid as it stands. Reason is fit for the customer's eyes.
type RefusedError struct {
	Below  bool // the amount is under what the network carries
	Reason string
}

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

// RefusedPaymentsError is a RefusedError of some of an order's payments; the others may be paid without them.
type RefusedPaymentsError struct {
	Refused  *RefusedError
	Payments []int // their positions in the order, from 0
}

func (e *RefusedPaymentsError) Error() string { return e.Refused.Error() }

func (e *RefusedPaymentsError) Unwrap() error { return e.Refused }

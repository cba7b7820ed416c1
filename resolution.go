package bursar

import "time"

// ResolutionKind says what an operator made of value that fits no wallet.
type ResolutionKind string

// The decisions there are.
const (
	ResolutionAssign ResolutionKind = "assign" // it is credited to a customer
	ResolutionRefund ResolutionKind = "return" // it is paid back on its chain
	ResolutionKeep   ResolutionKind = "keep"   // it is the operator's own
)

// ResolutionStatus says how far a decision has come.
type ResolutionStatus string

// The statuses of a decision. Assigning and keeping are done at once; a return begins queued.
const (
	ResolutionQueued ResolutionStatus = "queued" // held, waits to be signed; it can be called back
	ResolutionSigned ResolutionStatus = "signed" // its transaction is signed and stored: it may be paid at any time
	ResolutionDone   ResolutionStatus = "done"
	ResolutionFailed ResolutionStatus = "failed" // a return that paid nobody and never will: another decision may follow
)

var resolutionTransitions = transitions[ResolutionStatus]{
	ResolutionQueued: {ResolutionSigned, ResolutionFailed},
	ResolutionSigned: {ResolutionDone, ResolutionFailed, ResolutionQueued},
	ResolutionDone:   {ResolutionSigned},
	ResolutionFailed: {ResolutionDone},
}

// MayBecome reports whether a decision of status s may take the status next. From signed back to queued is a
// transaction that expired and can never be valid again; from done back to signed a reorganisation deeper than
// finality; from failed to done a transaction that failed on a branch which the chain left, and paid on the other.
func (s ResolutionStatus) MayBecome(next ResolutionStatus) bool {
	return resolutionTransitions.allow(s, next)
}

// Resolution is what an operator decided about one deposit that fits no wallet. At most one of a deposit's decisions
// has not failed.
type Resolution struct {
	Number    int64
	ID        ID
	DepositID ID
	Chain     ChainID
	Currency  CurrencyCode
	Kind      ResolutionKind
	Status    ResolutionStatus
	Note      string // the operator's, for the record

	AccountID ID // of an assignment
	WalletID  ID // of an assignment to a wallet or a charge

	Address    Address // of a return: who is paid
	Amount     Amount  // of a return: what is paid
	Fee        Amount  // of a return: what is kept of the value for the chain's fees
	OutgoingID ID      // of a return: the outgoing transaction; zero until one is made
	TxID       string  // of a return; empty until it is signed
	Error      string  // why it failed

	DecidedAt   time.Time
	CompletedAt time.Time // zero until it is done or failed
}

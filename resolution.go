package bursar

import "time"

// ResolutionKind is what an operator decided to do with an unattributed deposit.
type ResolutionKind string

// The kinds of resolutions.
const (
	ResolutionAssign ResolutionKind = "assign" // it is credited to a customer
	ResolutionRefund ResolutionKind = "return" // it is refunded to its sender on its chain
	ResolutionKeep   ResolutionKind = "keep"   // it becomes operator funds
)

// ResolutionStatus is the progress of a resolution.
type ResolutionStatus string

// The statuses of a resolution. Assigning and keeping are done at once; a refund to the sender starts as queued.
const (
	ResolutionQueued ResolutionStatus = "queued" // the value is held and waits to be signed; it can be cancelled
	ResolutionSigned ResolutionStatus = "signed" // its transaction is signed and stored: it may pay at any time
	ResolutionDone   ResolutionStatus = "done"
	ResolutionFailed ResolutionStatus = "failed" // a refund that paid nobody and never can: another resolution may follow
)

var resolutionTransitions = transitions[ResolutionStatus]{
	ResolutionQueued: {ResolutionSigned, ResolutionFailed},
	ResolutionSigned: {ResolutionDone, ResolutionFailed, ResolutionQueued},
	ResolutionDone:   {ResolutionSigned},
	ResolutionFailed: {ResolutionDone},
}

// MayBecome reports whether a resolution of status s may take the status next. From signed back to queued: its
// transaction expired and can never be valid again. From done back to signed: a reorganisation deeper than finality.
// From failed to done: its transaction failed on a branch that was reorged out, and paid on the new one.
func (s ResolutionStatus) MayBecome(next ResolutionStatus) bool {
	return resolutionTransitions.allow(s, next)
}

// Resolution is what an operator decided about one unattributed deposit. At most one resolution of a deposit has not
// failed.
type Resolution struct {
	Number    int64
	ID        ID
	DepositID ID
	Chain     ChainID
	Currency  CurrencyCode
	Kind      ResolutionKind
	Status    ResolutionStatus
	Note      string // the operator's note, for the record

	RequestedBy string // the operator who decided it, by name; empty: not known

	AccountID ID // of an assignment: who is credited
	WalletID  ID // of an assignment to a wallet or a charge; else zero

	Address    Address // of a refund: who is paid
	Amount     Amount  // of a refund: what is paid
	Fee        Amount  // of a refund: what is deducted from the value for the chain's fees
	OutgoingID ID      // of a refund: the outgoing transaction; zero until one is made
	TxID       string  // of a refund; empty until it is signed
	Error      string  // why it failed

	ResolvedAt  time.Time
	CompletedAt time.Time // zero until it is done or failed
}

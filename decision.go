package bursar

import "time"

// DecisionKind says what an operator made of value that fits no wallet.
type DecisionKind string

// The decisions there are.
const (
	DecisionAssign DecisionKind = "assign" // it is credited to a customer
	DecisionReturn DecisionKind = "return" // it is paid back on its chain
	DecisionKeep   DecisionKind = "keep"   // it is the operator's own
)

// DecisionStatus says how far a decision has come.
type DecisionStatus string

// The statuses of a decision. Assigning and keeping are done at once; a return begins queued.
const (
	DecisionQueued DecisionStatus = "queued" // held, waits to be signed; it can be called back
	DecisionSigned DecisionStatus = "signed" // its transaction is signed and stored: it may be paid at any time
	DecisionDone   DecisionStatus = "done"
	DecisionFailed DecisionStatus = "failed" // a return that paid nobody and never will: another decision may follow
)

var decisionTransitions = transitions[DecisionStatus]{
	DecisionQueued: {DecisionSigned, DecisionFailed},
	DecisionSigned: {DecisionDone, DecisionFailed, DecisionQueued},
	DecisionDone:   {DecisionSigned},
	DecisionFailed: {DecisionDone},
}

// MayBecome reports whether a decision of status s may take the status next. From signed back to queued is a transaction
// that expired and can never be valid again; from done back to signed a reorganisation deeper than finality; from failed to
// done a transaction that failed on a branch which the chain left, and paid on the other.
func (s DecisionStatus) MayBecome(next DecisionStatus) bool {
	return decisionTransitions.allow(s, next)
}

// Decision is what an operator decided about one deposit that fits no wallet. At most one of a deposit's decisions has
// not failed.
type Decision struct {
	Number    int64
	ID        ID
	DepositID ID
	Chain     ChainID
	Currency  Code
	Kind      DecisionKind
	Status    DecisionStatus
	Note      string // the operator's, for the record

	AccountID ID // of an assignment
	WalletID  ID // of an assignment to a wallet or a charge

	Address Address // of a return: who is paid
	Amount  Amount  // of a return: what is paid
	Fee     Amount  // of a return: what is kept of the value for the chain's fees
	SpendID ID      // of a return: the outgoing transaction; zero until one is made
	TxID    string  // of a return; empty until it is signed
	Error   string  // why it failed

	DecidedAt   time.Time
	CompletedAt time.Time // zero until it is done or failed
}

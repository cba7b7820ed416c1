package bursar

import "time"

// EventKind names the kind of an event.
type EventKind string

// The events that a receiver can get.
const (
	EventDeposit         EventKind = "deposit"          // credited
	EventDepositPending  EventKind = "deposit_pending"  // seen in a block; opt-in
	EventDepositReversed EventKind = "deposit_reversed" // was reorged out after credit
	EventPaid            EventKind = "paid"             // a charge was paid
	EventWithdrawal      EventKind = "withdrawal"       // a withdrawal changed status; opt-in
	EventTest            EventKind = "test"
)

// Event is what a webhook receiver is notified of. Once recorded it never changes, and its ID is the same in every
// delivery.
type Event struct {
	Number    int64
	ID        ID
	AccountID ID
	Kind      EventKind
	Subject   ID // the deposit or the withdrawal
	URL       string
	Body      []byte // JSON, sent byte for byte
	CreatedAt time.Time
}

// Noun names what Subject is in logs: deposit, or withdrawal; "account" where it is neither.
func (e Event) Noun() string {
	switch e.Kind {
	case EventDeposit, EventDepositPending, EventDepositReversed, EventPaid:
		return "deposit"
	case EventWithdrawal:
		return "withdrawal"
	}
	return "account"
}

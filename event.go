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

	// Of charges whose deposits add up, beside EventPaid.
	EventLate           EventKind = "late"      // a payment was credited that was first seen after the end
	EventChargeReversed EventKind = "reversed"  // a credited payment was reorged out
	EventAttention      EventKind = "attention" // a payment waits for a resolution
	EventChargePending  EventKind = "pending"   // a payment is in a block; opt-in, as those below
	EventPartial        EventKind = "partial"   // a payment was credited and more is due
	EventOverpaid       EventKind = "overpaid"
	EventExpired        EventKind = "expired"
	EventCancelled      EventKind = "cancelled"
	EventRefunded       EventKind = "refunded" // a refund was requested
)

// EventKinds returns every kind of event.
func EventKinds() []EventKind {
	return []EventKind{EventDeposit, EventDepositPending, EventDepositReversed, EventPaid, EventWithdrawal, EventTest,
		EventLate, EventChargeReversed, EventAttention, EventChargePending, EventPartial, EventOverpaid, EventExpired,
		EventCancelled, EventRefunded}
}

// Event is what a webhook receiver is notified of. Once recorded it never changes, and its ID is the same in every
// delivery.
type Event struct {
	Number    int64
	ID        ID
	AccountID ID
	Kind      EventKind
	Subject   ID // the deposit, the withdrawal, or the charge whose deposits add up
	URL       string
	Body      []byte // JSON, sent byte for byte
	CreatedAt time.Time
}

// SubjectKey returns the key under which Subject is logged: "deposit", "withdrawal" or "charge", or "account" for an
// event of none of these.
func (e Event) SubjectKey() string {
	switch e.Kind {
	case EventDeposit, EventDepositPending, EventDepositReversed, EventPaid:
		return "deposit"
	case EventWithdrawal:
		return "withdrawal"
	case EventLate, EventChargeReversed, EventAttention, EventChargePending, EventPartial, EventOverpaid, EventExpired,
		EventCancelled, EventRefunded:
		return "charge"
	}
	return "account"
}

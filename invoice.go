package bursar

import (
	"math/big"
	"time"
)

// Invoice is a charge whose deposits add up: clients call it a charge of rule "sum". It is priced in one unit, and may
// be paid in several currencies, each at an address of its own. What it became follows from its facts by Evaluate.
type Invoice struct {
	Number    int64 // from the numbers of wallets: it orders charges of both rules
	ID        ID
	AccountID ID
	Token     ID     // 128 random bits that open the payer's page; never the ID
	Reference string // the client's own, unique within the account; empty: none
	Request   []byte // identifies what was asked for under the reference

	Unit     Unit
	Required Amount // in the unit, as all its amounts are
	Under    Amount // what may be missing
	Over     Amount // what may be too much
	Late     Handling
	Other    Handling
	RateLock time.Duration // how long a quote's rate counts

	Description string
	Customer    string
	Webhook     string
	Metadata    string
	Success     string // where the payer's page returns to
	Failure     string
	Contact     string
	Locale      string
	LinkFormat  string
	Events      []EventKind // that it sends beside those that every invoice sends

	CreatedAt   time.Time
	Expires     time.Time
	CancelledAt time.Time // zero unless the client ended it

	Count   int64        // of its payments
	Crowded bool         // a deposit came that found no place among them
	Link    ID           // the payment link that it was made by; zero: none
	Answers []LinkAnswer // what the payer wrote there

	Recorded InvoiceRecord
}

// InvoiceRecord is what was last recorded about an invoice. Version rises with every change of a fact.
type InvoiceRecord struct {
	Version   int64
	Status    ChargeStatus
	Labels    []ChargeLabel
	Attention bool
	TurnsAt   time.Time // when the status changes by itself if no fact changes before; zero: never

	AttentionAt time.Time // since when a payment waits for a resolution; zero: none does
}

// Turned reports whether a recorded status has changed by itself.
func (r InvoiceRecord) Turned(now time.Time) bool {
	return !r.TurnsAt.IsZero() && !now.Before(r.TurnsAt)
}

// Handling says what becomes of a payment that is not as it was asked for.
type Handling string

// The kinds of handling.
const (
	HandlingReview Handling = "review" // it waits for a resolution
	HandlingAccept Handling = "accept" // it counts at its value
)

// ChargeStatus is the status of an invoice.
type ChargeStatus string

// The statuses of an invoice.
const (
	ChargeOpen       ChargeStatus = "open"       // waits for value
	ChargeConfirming ChargeStatus = "confirming" // enough is in blocks, and not all of it is credited
	ChargePaid       ChargeStatus = "paid"       // enough is credited, or the client marked it
	ChargeExpired    ChargeStatus = "expired"    // ended without enough
	ChargeCancelled  ChargeStatus = "cancelled"  // ended by the client without enough
)

// ChargeLabel says in which way an invoice is unusual.
type ChargeLabel string

// The labels of an invoice, in the order in which they are listed.
const (
	LabelPartial      ChargeLabel = "partial"       // something is credited, not enough
	LabelOver         ChargeLabel = "over"          // more is credited than is tolerated
	LabelLate         ChargeLabel = "late"          // a credited payment was first seen after the end
	LabelTolerated    ChargeLabel = "tolerated"     // it is paid with less than was required
	LabelOtherAsset   ChargeLabel = "other_asset"   // another currency of the same chain was paid
	LabelOtherNetwork ChargeLabel = "other_network" // the currency of another chain was paid
	LabelUnrated      ChargeLabel = "unrated"       // a payment has no rate that could be known
	LabelReversed     ChargeLabel = "reversed"      // a credited payment was reorged out
	LabelCrowded      ChargeLabel = "crowded"       // it has too many payments to take another small one
	LabelMarked       ChargeLabel = "marked"        // the client accepted a payment
	LabelRefunded     ChargeLabel = "refunded"      // all that was credited is refunded
	LabelPartRefunded ChargeLabel = "part_refunded" // some of it is
)

// PaymentOrigin says how a payment's currency relates to the address that it was paid to.
type PaymentOrigin string

// The origins of a payment.
const (
	PaidAsAsked    PaymentOrigin = "asked"
	PaidOtherAsset PaymentOrigin = "other_asset"
	PaidOnOtherNet PaymentOrigin = "other_network"
)

// The reasons why a payment does not count, beside the statuses of deposits and the origins of payments.
const (
	whyLate     = "late"
	whyUnrated  = "no_rate"
	whyRefunded = "refunded"
)

// PaymentResolution is what a client decided about a payment.
type PaymentResolution string

// The resolutions of a payment.
const (
	ResolveAccept PaymentResolution = "accept" // the invoice is paid
	ResolveRefund PaymentResolution = "refund" // it is refunded by a withdrawal
	ResolveCredit PaymentResolution = "credit" // it stays in the balance and changes nothing
)

// Payment is a deposit to an address of an invoice with what else is known about it.
type Payment struct {
	Deposit    Deposit
	Origin     PaymentOrigin
	Places     int  // of its currency: with how many decimals it can be paid back
	Decimals   int  // of its currency
	Rate       Rate // of a whole unit of its currency in the invoice's unit; unknown: it cannot be counted
	RateSource string
	RateAt     time.Time
	Value      Amount   // in the invoice's unit, rounded down; zero while the rate is unknown
	rest       *big.Rat // of a smallest unit, that Value leaves out; nil: nothing

	Resolution PaymentResolution // empty: none
	Round      uint32            // how often the deposit had been reversed when it was resolved
	Refunded   Amount            // by withdrawals that did not end unpaid, in its currency
	Surplus    Amount            // of Value, what was refunded because the invoice did not need it: counts no more
	Void       bool              // it was refunded while the invoice did not need it to be paid, and counts no more
}

// Resolved returns the resolution that holds: one from before a reversal holds no more, nor does a refund whose
// withdrawals all ended unpaid.
func (p Payment) Resolved() PaymentResolution {
	if p.Round != p.Deposit.Reversals || p.Resolution == ResolveRefund && p.Refunded.IsZero() {
		return ""
	}
	return p.Resolution
}

// InvoiceState is what an invoice's facts amount to at a time.
type InvoiceState struct {
	Status    ChargeStatus
	Labels    []ChargeLabel
	Attention bool      // a payment waits for a resolution
	Received  Amount    // credited and counted
	Pending   Amount    // in blocks, and counted once it is credited
	Returned  Amount    // of what was received, what was more than required and is refunded
	Due       Amount    // required and neither received, less what was returned, nor pending; never below zero
	Over      Amount    // received beyond what was required
	TurnsAt   time.Time // when the status changes by itself; zero: never
	Payments  []EvaluatedPayment
}

// EvaluatedPayment is a payment with what became of it.
type EvaluatedPayment struct {
	Payment
	Counted bool
	Why     string // the reason why it does not count; empty where it does
	Open    bool   // it waits for a resolution
}

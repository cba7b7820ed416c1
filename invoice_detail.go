package bursar

import (
	"slices"
	"time"
)

// InvoiceDetail is an invoice with all facts about it.
type InvoiceDetail struct {
	Invoice
	Options  []InvoiceOption // in the client's order
	Payments []Payment
	Refunds  []InvoiceRefund // oldest first
	Moments  []InvoiceMoment // oldest first, of the newest hundred versions

	Proposals []RefundProposal // one of a currency at most
}

// RefundProposal is where a payer wants the payments of a currency refunded to. It is their word, and nothing is paid
// to it before the client asks for that.
type RefundProposal struct {
	Currency CurrencyCode
	Address  Address
	At       time.Time
	Changes  int64 // how often the payer has named one
}

// Proposal returns what the payer named for a currency, and whether there is one.
func (d *InvoiceDetail) Proposal(code CurrencyCode) (RefundProposal, bool) {
	for _, p := range d.Proposals {
		if p.Currency == code {
			return p, true
		}
	}
	return RefundProposal{}, false
}

// RefundLocked reports whether a payment of a currency is refunded: the payer names no other address from then on,
// unless the refund ends unpaid.
func (d *InvoiceDetail) RefundLocked(code CurrencyCode) bool {
	return slices.ContainsFunc(d.Refunds, func(r InvoiceRefund) bool { return r.Currency == code && r.Stands() })
}

// InvoiceOption is a currency in which an invoice may be paid.
type InvoiceOption struct {
	Currency CurrencyCode
	Wallet   int64   // number of the wallet at whose address it is paid; 0 until it is chosen
	WalletID ID      // zero until then
	Address  Address // empty until then
	Quotes   []Quote // oldest first
}

// Quote is a rate that counts for payments that are first seen from At until Until.
type Quote struct {
	Rate   Rate // of a whole unit of the currency in the invoice's unit
	Source string
	RateAt time.Time
	At     time.Time
	Until  time.Time // zero: for ever
}

// Quoted returns the option's newest quote, the zero Quote where there is none.
func (o InvoiceOption) Quoted() Quote {
	if len(o.Quotes) == 0 {
		return Quote{}
	}
	return o.Quotes[len(o.Quotes)-1]
}

// Locked reports whether a quote counts at a time.
func (q Quote) Locked(at time.Time) bool {
	return q.Rate.IsKnown() && (q.Until.IsZero() || at.Before(q.Until))
}

// At returns the quote that counts for a payment that was first seen at a time, and whether there is one. A block may
// bear a time before the first quote was given: its payment was made for that quote.
func (o InvoiceOption) At(seen time.Time) (Quote, bool) {
	for i, q := range slices.Backward(o.Quotes) {
		if i == 0 || !seen.Before(q.At) {
			return q, q.Locked(seen)
		}
	}
	return Quote{}, false
}

// InvoiceRefund is a withdrawal that refunds a payment of an invoice.
type InvoiceRefund struct {
	Withdrawal ID
	Deposit    ID
	Currency   CurrencyCode
	Amount     Amount // of the payment
	Fee        Amount // what of it the recipient bore as the withdrawal's fee; the withdrawal paid the rest
	Surplus    Amount // of its value, what the invoice had received beyond what was required
	Void       bool   // the invoice was unpaid then, or is paid without it: the payment counts no more
	Status     WithdrawalStatus
	CreatedAt  time.Time
}

// Stands reports whether the refund has not ended unpaid: its money has left the balance, or will.
func (r InvoiceRefund) Stands() bool {
	return r.Status != WithdrawalRejected && r.Status != WithdrawalCancelled && r.Status != WithdrawalFailed
}

// InvoiceMoment is something that happened to an invoice.
type InvoiceMoment struct {
	Version int64
	At      time.Time
	What    Moment
}

// Moment names what happened to an invoice.
type Moment string

// What happens to invoices.
const (
	MomentCreated   Moment = "created"
	MomentQuoted    Moment = "quoted"    // an address or a rate was given
	MomentSeen      Moment = "seen"      // a payment is in a block
	MomentCredited  Moment = "credited"  // a payment is credited
	MomentTooSmall  Moment = "too_small" // a payment is below the currency's minimum and is not credited
	MomentOrphaned  Moment = "orphaned"  // a payment was reorged out before it was credited
	MomentReversed  Moment = "reversed"  // a payment was reorged out after it was credited
	MomentLeftOut   Moment = "left_out"  // a deposit came that found no place among the payments
	MomentExpired   Moment = "expired"
	MomentCancelled Moment = "cancelled"
	MomentResolved  Moment = "resolved"
	MomentRefunded  Moment = "refunded" // a refund was requested
	MomentUnrefund  Moment = "refund_taken_back"
	MomentProposed  Moment = "refund_address" // the payer named where to refund to
)

// Option returns the option of a currency, nil where the invoice has none.
func (d *InvoiceDetail) Option(code CurrencyCode) *InvoiceOption {
	for i := range d.Options {
		if d.Options[i].Currency == code {
			return &d.Options[i]
		}
	}
	return nil
}

// Payment returns a payment, nil for a deposit that is none of the invoice's.
func (d *InvoiceDetail) Payment(deposit ID) *Payment {
	for i := range d.Payments {
		if d.Payments[i].Deposit.ID == deposit {
			return &d.Payments[i]
		}
	}
	return nil
}

// State returns what the facts amount to at a time.
func (d *InvoiceDetail) State(now time.Time) InvoiceState {
	refunded, surplus, void := map[ID]Amount{}, map[ID]Amount{}, map[ID]bool{}
	for _, r := range d.Refunds {
		if r.Stands() {
			refunded[r.Deposit] = refunded[r.Deposit].AddCapped(r.Amount)
			surplus[r.Deposit] = surplus[r.Deposit].AddCapped(r.Surplus)
			void[r.Deposit] = void[r.Deposit] || r.Void
		}
	}
	for i := range d.Payments {
		p := &d.Payments[i]
		p.Refunded, p.Void, p.Value, p.rest = refunded[p.Deposit.ID], void[p.Deposit.ID], Amount{}, nil
		p.Surplus = surplus[p.Deposit.ID]
		if !p.Rate.IsKnown() {
			continue
		}
		value, err := p.Rate.Value(p.Deposit.Amount, Currency{Decimals: p.Decimals}, d.Unit)
		if err != nil {
			p.Rate = Rate{} // worth more than an amount can be: a person has to look
			continue
		}
		p.Value, p.rest = value, p.Rate.rest(p.Deposit.Amount, Currency{Decimals: p.Decimals}, d.Unit)
	}
	return d.Evaluate(d.Payments, now)
}

// PaidWithout reports whether an invoice is paid without one of its payments, as its facts were evaluated last. Such a
// payment counts no more once it is refunded: were another one reorged out, the charge would be paid by money that has
// left.
func (d *InvoiceDetail) PaidWithout(deposit ID, now time.Time) bool {
	others := slices.Clone(d.Payments)
	for i := range others {
		others[i].Void = others[i].Void || others[i].Deposit.ID == deposit
	}
	return d.Evaluate(others, now).Status == ChargePaid
}

// RefundTerms returns what a refund of a payment means for the invoice, as its facts were evaluated last. The rate is
// the one by which the refund is measured. Surplus is what of it the invoice has received beyond what is required and
// has not paid back: it counts no more, or it would pay in the place of another payment that is reorged out. Void means
// that the payment counts no more at all.
func (d *InvoiceDetail) RefundTerms(s InvoiceState, deposit ID, amount Amount, rate Rate, now time.Time) InvoiceRefund {
	r := InvoiceRefund{
		Deposit: deposit,
		Amount:  amount,
		Void:    s.Status != ChargePaid || d.PaidWithout(deposit, now),
	}
	p := d.Payment(deposit)
	if p == nil || !rate.IsKnown() {
		return r
	}
	value, err := rate.ValueUp(amount, Currency{Decimals: p.Decimals}, d.Unit)
	if err != nil {
		value = p.Value // more than any amount
	}
	if !r.Void {
		r.Surplus = value.Min(s.Over.SubOrZero(s.Returned))
	}
	return r
}

// Version returns the version of the state at a time: a status that has changed by itself is one further than what was
// recorded.
func (d *InvoiceDetail) Version(now time.Time) int64 {
	if d.Recorded.Turned(now) {
		return d.Recorded.Version + 1
	}
	return d.Recorded.Version
}

// Refundable returns how much of a payment may still be refunded, in its currency: never more than was credited, and
// rounded down to what can be paid.
func (p Payment) Refundable() Amount {
	if p.Deposit.Status != DepositConfirmed {
		return Amount{}
	}
	rest := p.Deposit.Amount.SubOrZero(p.Deposit.Fee).SubOrZero(p.Refunded)
	return payable(rest, Currency{Decimals: p.Decimals, Places: p.Places})
}

// Step returns the smallest amount by which payments of its currency may differ.
func (p Payment) Step() Amount {
	step, err := AmountFromBig(tenTo(p.Decimals - min(p.Places, p.Decimals)))
	if err != nil {
		return Amount{} // a currency has at most 38 decimals, so this cannot be
	}
	return step
}

// payable rounds an amount down to what can be paid.
func payable(a Amount, c Currency) Amount {
	step := tenTo(c.Decimals - min(c.Places, c.Decimals))
	n := a.Big()
	rounded, err := AmountFromBig(n.Mul(n.Quo(n, step), step))
	if err != nil {
		return Amount{} // it is not above a, so this cannot be
	}
	return rounded
}

// OptionDue returns what a payer is asked for in a currency: what is due, rounded up to what can be paid, and never
// less than the currency's smallest deposit, which would not be credited.
func OptionDue(rate Rate, due Amount, u Unit, c Currency) (Amount, error) {
	if due.IsZero() {
		return Amount{}, nil
	}
	asked, err := rate.Payable(due, u, c)
	if err == nil && asked.Less(c.Minimum) {
		asked = c.Minimum
	}
	return asked, err
}

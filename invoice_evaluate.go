package bursar

import (
	"bytes"
	"math/big"
	"slices"
	"time"
)

// End returns the moment from which on payments are late: the invoice's end, or when the client ended it before.
func (v Invoice) End() time.Time {
	if !v.CancelledAt.IsZero() && v.CancelledAt.Before(v.Expires) {
		return v.CancelledAt
	}
	return v.Expires
}

// Evaluate returns what an invoice's facts amount to: its terms, its payments and the clock. It is a pure function, and
// the order of the payments means nothing: the same facts have the same state, however they came about.
func (v Invoice) Evaluate(payments []Payment, now time.Time) InvoiceState {
	var s InvoiceState
	accepted, awaited := false, false
	var received, all tally
	for _, p := range sorted(payments) {
		why := v.why(p)
		s.Payments = append(s.Payments, EvaluatedPayment{Payment: p, Counted: why == "", Why: why})
		credited := p.Deposit.Status == DepositConfirmed
		if p.Resolved() == ResolveAccept && !p.Void {
			accepted, awaited = accepted || credited, awaited || p.Deposit.Status == DepositPending
		}
		if why == "" {
			all.add(p)
		}
		if why == "" && credited {
			received.add(p)
		}
	}
	total := all.amount()
	s.Received = received.amount()
	s.Pending = total.SubOrZero(s.Received)
	s.Returned = v.returned(&s)
	total = total.SubOrZero(s.Returned)
	enough := v.Required.SubOrZero(v.Under)
	switch {
	case accepted || !s.Received.SubOrZero(s.Returned).Less(enough):
		s.Status = ChargePaid
	case awaited || !total.Less(enough):
		s.Status = ChargeConfirming
	case !v.CancelledAt.IsZero():
		s.Status = ChargeCancelled
	case !now.Before(v.Expires):
		s.Status = ChargeExpired
	default:
		s.Status, s.TurnsAt = ChargeOpen, v.Expires
	}
	if s.Status != ChargePaid {
		s.Due = v.Required.SubOrZero(total)
	}
	s.Over = s.Received.SubOrZero(v.Required)
	v.question(&s)
	v.label(&s, accepted)
	return s
}

// returned returns what was received beyond what was required, and is refunded. Of a payment it may be more than that
// has, if a reorg has a failed refund paid after all beside another one: that money has left too, and is missing from
// what others paid, also where the payment itself counts no more.
func (v Invoice) returned(s *InvoiceState) (sum Amount) {
	for _, p := range s.Payments {
		switch {
		case p.Deposit.Status != DepositConfirmed:
		case p.Counted:
			sum = sum.AddCapped(p.Surplus)
		case p.Void && p.Rate.IsKnown():
			sum = sum.AddCapped(v.beyond(p.Payment))
		}
	}
	return sum
}

// beyond returns what of a payment's refunds is more than the payment itself, in the invoice's unit.
func (v Invoice) beyond(p Payment) Amount {
	excess := p.Refunded.SubOrZero(p.Deposit.Amount)
	value, err := p.Rate.ValueUp(excess, Currency{Decimals: p.Decimals}, v.Unit)
	if err != nil {
		return excess // worth more than an amount can be, which Value of the payment would have been too
	}
	return value
}

// tally is a sum of values that is rounded down once and not for each payment: who pays exactly what is due in several
// parts has paid it.
type tally struct {
	whole Amount
	rest  big.Rat
}

func (t *tally) add(p Payment) {
	t.whole = t.whole.AddCapped(p.Value)
	if p.rest != nil {
		t.rest.Add(&t.rest, p.rest)
	}
}

func (t *tally) amount() Amount {
	rest, err := AmountFromBig(new(big.Int).Quo(t.rest.Num(), t.rest.Denom()))
	if err != nil {
		return t.whole // each payment adds less than one, so this cannot be
	}
	return t.whole.AddCapped(rest)
}

// sorted returns payments in an order that depends on nothing but the payments.
func sorted(payments []Payment) []Payment {
	list := slices.Clone(payments)
	slices.SortFunc(list, func(a, b Payment) int {
		if c := a.Deposit.SeenAt.Compare(b.Deposit.SeenAt); c != 0 {
			return c
		}
		return bytes.Compare(a.Deposit.ID[:], b.Deposit.ID[:])
	})
	return list
}

// late reports whether a payment was first seen after the end.
func (v Invoice) late(p Payment) bool { return !p.Deposit.SeenAt.Before(v.End()) }

// lateCounts reports whether late payments count without a resolution: not once the client has ended the invoice.
func (v Invoice) lateCounts() bool { return v.Late == HandlingAccept && v.CancelledAt.IsZero() }

// why returns the reason why a payment does not count, "" where it counts.
func (v Invoice) why(p Payment) string {
	switch status := p.Deposit.Status; {
	case status != DepositPending && status != DepositConfirmed:
		return string(status)
	case p.Void:
		return whyRefunded
	case !p.Rate.IsKnown():
		return whyUnrated
	case p.Resolved() == ResolveAccept:
		return ""
	case p.Origin != PaidAsAsked && v.Other != HandlingAccept:
		return string(p.Origin)
	case v.late(p) && !v.lateCounts():
		return whyLate
	}
	return ""
}

// most returns how much may be received before it is too much. A price in fiat is paid in steps of another currency,
// and the last step rounds up: who pays exactly what was asked for has not paid too much.
func (v Invoice) most(s *InvoiceState) Amount {
	var step Amount
	for _, p := range s.Payments {
		if !v.Unit.Fiat || !p.Counted || p.Deposit.Status != DepositConfirmed {
			continue
		}
		worth, err := p.Rate.Value(p.Step(), Currency{Decimals: p.Decimals}, v.Unit)
		if worth = worth.AddCapped(Units(1)); err == nil && step.Less(worth) {
			step = worth
		}
	}
	return v.Required.AddCapped(v.Over).AddCapped(step)
}

// question marks the payments that wait for a resolution.
func (v Invoice) question(s *InvoiceState) {
	limit, sum := v.most(s), Amount{}
	ended := s.Status == ChargeExpired || s.Status == ChargeCancelled
	for i := range s.Payments {
		p := &s.Payments[i]
		if p.Counted && p.Deposit.Status == DepositConfirmed {
			sum = sum.AddCapped(p.Value.SubOrZero(p.Surplus))
		}
		if p.Resolved() != "" {
			continue
		}
		switch p.Deposit.Status {
		case DepositReversed:
			p.Open = true
		case DepositConfirmed:
			p.Open = !p.Void && (!p.Counted || limit.Less(sum) || ended)
		}
	}
	s.Attention = slices.ContainsFunc(s.Payments, func(p EvaluatedPayment) bool { return p.Open })
}

func (v Invoice) label(s *InvoiceState, accepted bool) {
	has := map[ChargeLabel]bool{
		LabelPartial:   s.Status != ChargePaid && !s.Received.IsZero(),
		LabelOver:      v.most(s).Less(s.Received),
		LabelTolerated: s.Status == ChargePaid && !accepted && s.Received.SubOrZero(s.Returned).Less(v.Required),
		LabelCrowded:   v.Crowded,
		LabelMarked:    accepted,
	}
	some, all := false, true
	for _, p := range s.Payments {
		if p.Deposit.Status == DepositReversed {
			has[LabelReversed] = true
		}
		some = some || !p.Refunded.IsZero()
		if p.Deposit.Status != DepositConfirmed {
			continue
		}
		all = all && p.Refundable().IsZero()
		has[LabelLate] = has[LabelLate] || v.late(p.Payment)
		has[LabelOtherAsset] = has[LabelOtherAsset] || p.Origin == PaidOtherAsset
		has[LabelOtherNetwork] = has[LabelOtherNetwork] || p.Origin == PaidOnOtherNet
		has[LabelUnrated] = has[LabelUnrated] || !p.Rate.IsKnown()
	}
	has[LabelRefunded], has[LabelPartRefunded] = some && all, some && !all
	for _, l := range ChargeLabels() {
		if has[l] {
			s.Labels = append(s.Labels, l)
		}
	}
}

// ChargeStatuses returns every status of an invoice, in the order of its life.
func ChargeStatuses() []ChargeStatus {
	return []ChargeStatus{ChargeOpen, ChargeConfirming, ChargePaid, ChargeExpired, ChargeCancelled}
}

// ChargeLabels returns every label of an invoice, in the order in which they are listed.
func ChargeLabels() []ChargeLabel {
	return []ChargeLabel{LabelPartial, LabelOver, LabelLate, LabelTolerated, LabelOtherAsset, LabelOtherNetwork,
		LabelUnrated, LabelReversed, LabelCrowded, LabelMarked, LabelRefunded, LabelPartRefunded}
}

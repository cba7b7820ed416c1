package pay

import (
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// State is what the page shows first. Each has the texts "<state>" and "<state>_text" in every language.
type State string

// The states of a page.
const (
	Choose         State = "choose"          // no currency is chosen
	Waiting        State = "waiting"         // nothing was paid
	Partial        State = "partial"         // something was paid, and more is asked for
	RateEnded      State = "rate_ended"      // a new rate must be asked for
	NoRate         State = "no_rate"         // no rate is known now
	Confirming     State = "confirming"      // enough was paid and is not credited
	Paid           State = "paid"            // the page is a receipt
	Late           State = "late"            // something was paid after the end
	Expired        State = "expired"         // ended, and nothing was paid
	ExpiredPartial State = "expired_partial" // ended, and not enough was paid
	Cancelled      State = "cancelled"       // ended by the shop, and nothing was paid
)

// States returns all states.
func States() []State {
	return []State{Choose, Waiting, Partial, RateEnded, NoRate, Confirming, Paid, Late, Expired, ExpiredPartial, Cancelled}
}

// ended reports whether nothing more is asked for and nothing is expected.
func (s State) ended() bool {
	return s == Paid || s == Late || s == Expired || s == ExpiredPartial || s == Cancelled
}

// notices are the labels that the page shows, each by the text "notice_<label>".
func notices() []bursar.ChargeLabel {
	return []bursar.ChargeLabel{bursar.LabelReversed, bursar.LabelOtherAsset, bursar.LabelOtherNetwork,
		bursar.LabelUnrated,
		bursar.LabelLate, bursar.LabelOver, bursar.LabelRefunded, bursar.LabelPartRefunded}
}

// stateOf returns what the page shows of a charge. o is the chosen currency, nil without one; offered says whether any
// can be chosen.
func stateOf(s bursar.InvoiceState, o *bursar.InvoiceOption, fiat, offered, choose bool, now time.Time) State {
	late := slices.Contains(s.Labels, bursar.LabelLate) && s.Attention
	switch s.Status {
	case bursar.ChargePaid:
		return Paid
	case bursar.ChargeConfirming:
		return Confirming
	case bursar.ChargeExpired, bursar.ChargeCancelled:
		switch {
		case late:
			return Late
		case len(s.Payments) > 0:
			return ExpiredPartial
		case s.Status == bursar.ChargeCancelled:
			return Cancelled
		}
		return Expired
	case bursar.ChargeOpen:
	}
	switch {
	case !offered:
		return NoRate
	case o == nil || o.Wallet == 0 || choose:
		return Choose
	case fiat && !o.Quoted().Locked(now):
		return RateEnded
	case !s.Received.IsZero() || !s.Pending.IsZero():
		return Partial
	}
	return Waiting
}

package roster

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Measure is what is summed within the windows of a rule.
type Measure string

// The measures, as a policy's text names them. Whatever is summed of a transaction counts once, however often the
// transaction is replaced: of what it can cost, the most of its replacements.
const (
	// MeasureWorth is what is paid, with the most that its transactions can cost where the policy has a price of that.
	MeasureWorth Measure = "window"
	// MeasureFees is the most that transactions can cost; each payment has an equal share of its transaction.
	MeasureFees Measure = "fees"
	// MeasurePayments is how many payments are made, or movements of our own money: at least as many as transactions.
	MeasurePayments Measure = "count"
	// MeasureAccount is MeasureWorth of each account by itself. It is about payments that a client ordered.
	MeasureAccount Measure = "per_account"
)

// bound is the windows of one measure.
type bound struct {
	of      Measure
	windows []Window
}

// bounds returns the windows of an allow, in the order of its text.
func (r Rule) bounds() []bound {
	return []bound{{MeasureWorth, r.Windows}, {MeasureFees, r.Fees}, {MeasurePayments, r.Payments},
		{MeasureAccount, r.PerAccount}}
}

// text writes how much of a measure there is.
func (m Measure) text(v Value) string {
	if m == MeasurePayments {
		return v.String()
	}
	return valueText(v)
}

func (m Measure) parse(text string) (Value, error) {
	if m == MeasurePayments {
		return bursar.ParseUnits(text)
	}
	return parseValue(text)
}

// addition is what a transaction would add to the windows of a rule.
type addition struct {
	worth, fee Value
	payments   uint64
}

func (a addition) of(m Measure) Value {
	switch m {
	case MeasureFees:
		return a.fee
	case MeasurePayments:
		return bursar.Units(a.payments)
	}
	return a.worth.AddCapped(a.fee)
}

// full says which window of a rule has no room for what is added; "": all have.
func (r Rule) full(q Question, reference string, more addition) string {
	for _, b := range r.bounds() {
		for _, w := range b.windows {
			used, add := q.used(b.of, r.ID, w.Length), more.of(b.of)
			if w.Most.SubOrZero(used).Less(add) {
				return more.beyond(b.of, used, w, reference)
			}
		}
	}
	return ""
}

// beyond describes a window without room.
func (a addition) beyond(m Measure, used Value, w Window, reference string) string {
	worth := fmt.Sprintf("it is worth %s %s", valueText(a.worth), reference)
	if !a.fee.IsZero() {
		worth += fmt.Sprintf(" and may cost %s", valueText(a.fee))
	}
	there := fmt.Sprintf("%s of %s", m.text(used), m.text(w.Most))
	if used == bursar.LargestAmount() { // nobody knows how much, as after a cold start
		there = "all of " + m.text(w.Most)
	}
	switch m {
	case MeasureFees:
		return fmt.Sprintf("it may cost %s %s, and %s may have been spent on fees within %s", valueText(a.fee), reference,
			there, span(w.Length))
	case MeasurePayments:
		return fmt.Sprintf("%s payments were signed within %s", there, span(w.Length))
	case MeasureAccount:
		return fmt.Sprintf("%s, and %s have left for its account within %s", worth, there, span(w.Length))
	}
	return fmt.Sprintf("%s, and %s have left within %s", worth, there, span(w.Length))
}

func (q Question) used(of Measure, rule string, length time.Duration) Value {
	if q.Used == nil {
		return Value{}
	}
	return q.Used(of, rule, q.Now.Add(-length))
}

// feeUnknown reports whether a rule bounds fees, and the policy has no price of what they are paid in.
func (r Rule) feeUnknown(q Question, p Policy) bool {
	_, priced := p.asset(q.Chain, "")
	return len(r.Fees) > 0 && !priced && !q.Fee.IsZero()
}

func noFeePrice(rule string, chain bursar.ChainID) string {
	return fmt.Sprintf("rule %s: it bounds fees, and the policy has no price of the native asset of %s, in which they "+
		"are paid", rule, chain)
}

// Replace says whether the rule that allowed an order lets a transaction for it be replaced by one whose share may cost
// more, by a value. A rule that the policy does not have any more bounds nothing: what waits behind the transaction
// must not wait for ever.
func (p Policy) Replace(rule string, q Question, more Value) Answer {
	i := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.ID == rule && !r.Deny })
	if i < 0 {
		return Answer{Allowed: true, Rule: rule}
	}
	r := p.Rules[i]
	if r.feeUnknown(q, p) {
		return Answer{Rule: rule, Lacks: Matches, Detail: noFeePrice(rule, q.Chain)}
	}
	if more.IsZero() {
		return Answer{Allowed: true, Rule: rule}
	}
	if why := r.full(q, p.Reference, addition{fee: more}); why != "" {
		return Answer{Rule: rule, Lacks: InWindow, Detail: "rule " + rule + ": " + why}
	}
	return Answer{Allowed: true, Rule: rule}
}

// soundBounds refuses windows that nobody could mean.
func (p Policy) soundBounds(r Rule) error {
	for _, b := range r.bounds() {
		for i, w := range b.windows {
			if w.Length == 0 || w.Length > LongestWindow || i > 0 && w.Length <= b.windows[i-1].Length {
				return unsound("%s: windows are shortest first, and at most a week long", r.ID)
			}
			if b.of != MeasureWorth && w.Most.IsZero() {
				return unsound("%s: %s of 0 within %s allows nothing", r.ID, b.of, span(w.Length))
			}
		}
	}
	if len(r.PerAccount) > 0 && !slices.Contains(r.For, KindWithdrawal) {
		return unsound("%s: per_account is for withdrawals: our own money belongs to no account", r.ID)
	}
	if len(r.Fees) == 0 {
		return nil
	}
	for _, a := range p.Assets {
		if r.Assets != nil && !slices.Contains(r.Assets, a.Name) {
			continue
		}
		if _, priced := p.asset(a.Chain, ""); !priced {
			return unsound("%s bounds fees, and the native asset of %s, in which those of %s are paid, has no price", r.ID,
				a.Chain, a.Name)
		}
	}
	return nil
}

// Uncounted lists the chains whose fees no window counts, because the policy has no price of their native assets.
func (p Policy) Uncounted() (list []string) {
	var seen []bursar.ChainID
	for _, a := range p.Assets {
		if _, priced := p.asset(a.Chain, ""); priced || slices.Contains(seen, a.Chain) {
			continue
		}
		seen = append(seen, a.Chain)
		list = append(list, fmt.Sprintf("fees on %s count in no window: the policy has no price of its native asset",
			a.Chain))
	}
	return list
}

package oversight

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
)

// totalled are what is summed over all currencies, in the reference currency.
var totalled = []struct {
	key, label string
	of         func(reconcile.Position, books) bursar.Amount
}{
	{"held", "Held, all currencies", func(p reconcile.Position, _ books) bursar.Amount { return p.Custody }},
	{"owed", "Owed, all currencies", func(p reconcile.Position, _ books) bursar.Amount { return p.Owed }},
	{"hot", "Hot, all currencies", func(p reconcile.Position, _ books) bursar.Amount { return p.Hot }},
	{"unswept", "Unswept, all currencies", func(p reconcile.Position, _ books) bursar.Amount { return p.Unswept }},
	{"cold", "Cold, all currencies", func(p reconcile.Position, _ books) bursar.Amount { return p.Cold }},
	{"own", "Own funds, all currencies", func(p reconcile.Position, _ books) bursar.Amount { return p.Own }},
	{"fees", "Fees earned, all currencies", func(p reconcile.Position, b books) bursar.Amount { return b.fees(p) }},
	{"gas", "Network fees paid, all currencies", func(p reconcile.Position, b books) bursar.Amount {
		return b.net(ledger.NetworkFees, p.Currency.Code)
	}},
}

func (b books) fees(p reconcile.Position) bursar.Amount {
	return b.sum(p.Currency.Code, ledger.DepositFees, ledger.WithdrawalFees)
}

// total is what everything is worth in the reference currency, and the currencies whose rate is not known.
type total struct {
	sums    []bursar.Amount // as totalled
	unit    bursar.Unit
	unrated []bursar.CurrencyCode
	oldest  time.Time
	sources map[string]bool
}

func (r *reading) total(b books) (t total) {
	t.sums, t.sources = make([]bursar.Amount, len(totalled)), map[string]bool{}
	for _, p := range b.verdict.Lines {
		if p.Custody.IsZero() && p.Owed.IsZero() && p.Own.IsZero() {
			continue
		}
		w := r.worth(p.Currency.Code)
		if !t.add(p, b, w) {
			t.unrated = append(t.unrated, p.Currency.Code)
			continue
		}
		t.unit, t.sources[w.Source] = w.Unit, true
		if !w.At.IsZero() && (t.oldest.IsZero() || w.At.Before(t.oldest)) {
			t.oldest = w.At
		}
	}
	return t
}

// add adds what one currency is worth, all of it or nothing.
func (t *total) add(p reconcile.Position, b books, w Worth) bool {
	sums := slices.Clone(t.sums)
	for i, one := range totalled {
		v, known := w.value(one.of(p, b), p.Currency)
		if !known {
			return false
		}
		sums[i] = added(sums[i], v)
	}
	t.sums = sums
	return true
}

func added(a, b bursar.Amount) bursar.Amount {
	if sum, err := a.Add(b); err == nil {
		return sum
	}
	return a
}

// say adds the first of the totals to a sheet, with where their rates come from, or says that there is none.
func (t total) say(s *Sheet, first int) {
	if len(t.sources) > 0 {
		for i, one := range totalled[:first] {
			s.fact(one.key, one.label, Figure, t.unit.Exact(t.sums[i])+" "+string(t.unit.Code))
		}
		for source := range t.sources {
			if source == "" {
				source = "the configuration"
			}
			s.fact("rates", "Rates from", Plain, source)
		}
		s.fact("ratesOf", "The oldest rate is of", Moment, instant(t.oldest))
	}
	if len(t.unrated) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("No rate is known now for %s: the totals leave it out.", list(t.unrated)))
	}
}

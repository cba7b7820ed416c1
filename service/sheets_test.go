package service

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// quotes are fixed rates in fiat.
type quotes []bursar.PairRate

func (q quotes) All() []bursar.PairRate { return q }

func (q quotes) Price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote {
	for _, r := range q {
		if r.Currency == code && r.Unit == unit.Code {
			return bursar.Quote{Rate: r.Rate, Source: r.Source, RateAt: r.At}
		}
	}
	return bursar.Quote{}
}

func (q quotes) Covers(bursar.CurrencyCode, bursar.Unit) bool { return true }

func (q quotes) MaxAge() time.Duration { return time.Minute }

// The totals of the console are in the fiat currency in which most currencies have a rate; one without a rate has none.
func TestTheReferenceCurrency(t *testing.T) {
	t.Parallel()
	rate, err := bursar.ParseRate("2")
	if err != nil {
		t.Fatal(err)
	}
	of := func(code, unit bursar.CurrencyCode) bursar.PairRate {
		return bursar.PairRate{Currency: code, Unit: unit, Rate: rate, Source: "a feed"}
	}
	s := &Service{parts: Parts{Prices: quotes{of("BTC", "USD"), of("BTC", "EUR"), of("ETH", "EUR")}}}
	if w := s.worth("ETH"); w.Unit.Code != "EUR" || w.Rate != rate || w.Source != "a feed" {
		t.Errorf("ETH is worth %+v, want 2 EUR by a feed", w)
	}
	if w := s.worth("XRP"); w.Unit.Code != "EUR" || w.Rate.IsKnown() {
		t.Errorf("XRP is worth %+v, want no rate in EUR", w)
	}
	if w := (&Service{}).worth("BTC"); w.Rate.IsKnown() {
		t.Errorf("without rates BTC is worth %+v, want nothing", w)
	}
}

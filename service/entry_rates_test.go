package service

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/rate"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// gappy are prices of which some are missing.
type gappy struct {
	quotes
	pairs []rate.Pair
}

func (m *gappy) Missing() []rate.Pair { return m.pairs }

// A source that has not answered yet is waited for, and not for ever.
func TestMissingRatesAreWaitedForAMinute(t *testing.T) {
	t.Parallel()
	var p ratePatience
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	prices := &gappy{pairs: []rate.Pair{{Currency: "BTC", Unit: "EUR"}}}
	for after, want := range map[time.Duration]bool{
		0:                false,
		59 * time.Second: false,
		time.Minute:      true,
		time.Hour:        true,
	} {
		p.since = now
		if got := p.ends(prices, now.Add(after)); got != want {
			t.Errorf("after %v: got %v, want %v", after, got, want)
		}
	}
	prices.pairs = nil
	if !p.ends(prices, now) || !p.since.IsZero() {
		t.Errorf("complete rates: since %v, want to go on and forget", p.since)
	}
	if !p.ends(quotes{}, now) {
		t.Error("prices that do not say what is missing are waited for, want not")
	}
	prices.pairs = []rate.Pair{{Currency: "BTC", Unit: "EUR"}}
	if p.ends(prices, now.Add(time.Hour)) {
		t.Error("rates that have just gone missing: got on, want a wait")
	}
}

// A credit has the rate that counted when it was posted, and keeps it; what was posted before is not looked at.
func TestACreditKeepsTheRateOfItsTime(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	s := &Service{DB: db}
	post := func(n byte) {
		t.Helper()
		d := bursar.Deposit{ID: bursar.ID{n}, AccountID: bursar.ID{9}, Currency: "BTC", Amount: bursar.Units(100)}
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			return tx.Ledger().Post(t.Context(), ledger.DepositCredited(d, tx.Now()))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	note := func(text string) {
		t.Helper()
		r, err := bursar.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		s.parts.Prices = quotes{{Currency: "BTC", Unit: "EUR", Rate: r, Source: "a feed", At: db.Now()}}
		if more, err := s.noteNextRates(t.Context()); err != nil || more {
			t.Fatalf("got %v, %v, want no more entries", more, err)
		}
	}
	post(1)
	note("50000")
	post(2)
	note("60000")
	note("70000")
	err := db.View(t.Context(), func(tx *store.Tx) error {
		got, err := tx.EntryRates().Of(t.Context(), "EUR", []int64{1, 2})
		if len(got) != 1 || got[store.EntryAsset{Entry: 2, Asset: "BTC"}].Rate.String() != "60000" {
			t.Errorf("the rates are %v, want 60000 of the second entry", got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

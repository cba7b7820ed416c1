package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// plainPrices are what amounts of a journal were worth when they were posted. The zero value has none.
type plainPrices struct {
	unit bursar.Unit // the fiat currency

	before map[store.EntryAsset]bursar.PairRate // of an entry that continues in what is read next
	now    map[store.EntryAsset]bursar.PairRate

	day  time.Time                           // the day of the latest entry
	last map[bursar.CurrencyCode]bursar.Rate // of that day
}

// learn takes the rates of the entries that are read next. The last entry of those before is not written yet.
func (p *plainPrices) learn(rates map[store.EntryAsset]bursar.PairRate) {
	p.before, p.now = p.now, rates
}

// of returns the rate of a line, which is not known where none counted.
func (p *plainPrices) of(l store.Line) bursar.Rate {
	key := store.EntryAsset{Entry: l.Entry, Asset: l.Asset}
	if r, there := p.now[key]; there {
		return r.Rate
	}
	return p.before[key].Rate
}

// declareFiat declares the currency of values.
func (w *plainWriter) declareFiat() {
	unit := w.prices.unit
	if unit.Code == "" {
		return
	}
	w.known[string(unit.Code)] = true
	switch w.format {
	case formatBeancount:
		w.line("option %q %q", "operating_currency", string(unit.Code))
		w.line("1970-01-01 commodity %s", unit.Code)
	case formatHledger:
		w.line("commodity 1.%s %s", strings.Repeat("0", max(unit.Places, 1)), w.commodity(unit.Code))
	default: // without the format it shows as many decimals as the first price has
		w.line("commodity %s\n  format 1000%s %s", w.commodity(unit.Code), strings.TrimRight("."+
			strings.Repeat("0", unit.Places), "."), w.commodity(unit.Code))
	}
}

// price is what stands behind an amount that has a value. Both sides of a posting have the same, so that an entry
// balances in the fiat currency too.
func (w *plainWriter) price(l store.Line) string {
	rate := w.prices.of(l)
	if !rate.IsKnown() {
		return ""
	}
	if ledger.Reverses(l.Kind, l.Ref) == nil { // what takes another back has the price of that one, not of its day
		w.prices.last[l.Asset] = rate
	}
	return " @ " + rate.String() + " " + w.commodity(w.prices.unit.Code)
}

// dayOf writes the prices of the day before, where an entry begins another one.
func (w *plainWriter) dayOf(at time.Time) {
	day := at.UTC().Truncate(24 * time.Hour)
	if !day.Equal(w.prices.day) {
		w.daysPrices()
	}
	w.prices.day = day
}

// daysPrices writes the last price of each currency on a day: one alone, as beancount has prices by day.
func (w *plainWriter) daysPrices() {
	for _, code := range slices.Sorted(maps.Keys(w.prices.last)) {
		rate, fiat := w.prices.last[code].String(), w.commodity(w.prices.unit.Code)
		if w.format == formatBeancount {
			w.line("%s price %s  %s %s", w.prices.day.Format(time.DateOnly), code, rate, fiat)
		} else {
			w.line("P %s %s %s %s", w.prices.day.Format(time.DateOnly), w.commodity(code), rate, fiat)
		}
	}
	clear(w.prices.last)
}

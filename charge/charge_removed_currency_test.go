package charge_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// A currency is removed from the configuration while a charge has a payment in it: a reorg reverses that, and the chain
// continues.
func TestAPaymentOfARemovedCurrencyHoldsUpNobody(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Currencies, t.Unit, t.Amount = []bursar.CurrencyCode{"TOK"}, "TOK", "10.00" })
		hash := r.send(d, "TOK", "TOK", 10_000_000)
		r.mine(bursar.Ethereum, 2)
		r.shows(d, "paid")
		var left []bursar.Currency
		for _, c := range currencies(r.chains) {
			if c.Code != "TOK" {
				left = append(left, c)
			}
		}
		r.open(left)
		r.reorg(bursar.Ethereum, 2, hash)
		r.shows(d, "open reversed !")
	})
}

// The smallest deposit of a currency is raised after a charge was made: what the payer was asked for is credited, and
// less than that is not.
func TestARaisedMinimumLeavesWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d, short := r.sum(nil), r.sum(nil)
		euro := r.inEuro("BTC")
		list := currencies(r.chains)
		list[0].Minimum = bursar.Units(1_000_000)
		r.open(list)
		r.send(d, "BTC", "BTC", 100_000)
		r.send(short, "BTC", "BTC", 99_999)
		r.send(euro, "BTC", "BTC", 200_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		r.shows(euro, "paid")
		r.shows(short, "open")
		r.holds("BTC", 297_000)
	})
}

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

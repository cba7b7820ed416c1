package e2e

import "testing"

// Withdrawals that are covered together, and not one by one by what the hot wallet holds now, are all paid: each waits
// until enough is swept, none is sent to fail on the chain, and none is refunded.
func TestCoveredWithdrawalsWaitForSweeps(t *testing.T) {
	if testing.Short() {
		t.Skip("the sandbox as a process is left out by -short")
	}
	w := newWorldOf(t, &harness{t: t, programs: build(t), dir: t.TempDir(), endpoints: 1, chains: "polygon,tron"})
	tokens := w.that(func(c *currency) bool { return c.token })
	bring := func(amount string) {
		var all []receipt
		for _, c := range tokens {
			all = append(all, w.bring(c, payment{w.a.wallet(c), amount})...)
		}
		w.credited(all...)
	}
	bring("100.5")
	w.settle()
	w.blocks("auto")
	bring("500.5")
	var orders []*order
	for _, c := range tokens {
		for range 6 {
			orders = append(orders, w.order(w.a, c, "90", w.outsider(c)))
		}
	}
	w.must(placeAll(orders, func() {}, (*order).place))
	w.paid(orders)
	w.settle()
	for _, o := range orders {
		w.arrived(o)
	}
	w.balanced()
	w.reconcile()
	w.endCleanly()
}

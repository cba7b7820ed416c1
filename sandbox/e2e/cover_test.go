package e2e

import "testing"

// TestCoveredWithdrawalsWaitForSweeps checks that withdrawals that are covered together, but not one by one by the
// hot wallet's present balance, are all paid: each waits until enough is swept, none is sent and fails on the chain,
// and none is refunded.
func TestCoveredWithdrawalsWaitForSweeps(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	w := newHarness(t, build(t), "", "polygon,tron")
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
	var requests []*withdrawalRequest
	for _, c := range tokens {
		for range 6 {
			requests = append(requests, w.order(w.a, c, "90", w.external(c)))
		}
	}
	w.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	w.paid(requests)
	w.settle()
	for _, o := range requests {
		w.arrived(o)
	}
	w.balanced()
	w.reconcile()
	w.endCleanly()
}

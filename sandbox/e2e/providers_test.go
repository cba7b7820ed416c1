package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// manners are the ways in which hosted providers and load balancers serve nodes: a service works with all of them. What
// limits a batch to three calls comes before what refuses all batches, after which none is sent any more.
var manners = []string{"balanced", "flaky", "plan-401", "plan-403", "plan-32600", "plan-32601", "too-big", "batch-of-3",
	"unbatched", "small-body", "limited", "limited-date"}

// runProviders has payments come in and go out while nodes are served as providers serve them. Everything arrives
// while the manner lasts.
func runProviders(w *harness) {
	w.stock()
	for round := range manners {
		w.during(round)
	}
	w.audit()
	w.endCleanly()
}

// stock receives more than will be paid out, and waits until tokens are in the hot wallets.
func (w *harness) stock() {
	w.t.Helper()
	var first []receipt
	for _, c := range w.currencies {
		first = append(first, w.bring(c, payment{w.a.wallet(c), "155.5"})...)
	}
	w.credited(first...)
	for _, c := range w.that(func(c *currency) bool { return c.token }) {
		hot := w.view(c.network).Hot
		w.eventually(c.code+" is swept", func() error {
			if held := w.onChain(c, hot); held.Cmp(c.units("155.5")) < 0 {
				return fmt.Errorf("%v units are in the hot wallet", held)
			}
			return nil
		})
	}
}

// during serves every network in a manner, each in another at a time, at all of its endpoints. It ends once payments
// have come in and gone out in every currency.
func (w *harness) during(round int) {
	w.t.Helper()
	began := time.Now()
	set := func(seconds int) {
		for i, n := range w.networks() {
			w.must(w.sandbox.ask(http.MethodPost, "/fault",
				map[string]any{"chain": n.chain, "kind": manners[(i+round)%len(manners)], "seconds": seconds}, nil))
		}
	}
	set(3600)
	requests := w.toExternal("5.25", 1)
	var group sync.WaitGroup
	var refused error
	group.Go(func() { refused = placeAll(requests, func() {}, (*withdrawalRequest).insist) })
	var brought []receipt
	for _, c := range w.currencies {
		brought = append(brought, w.bring(c, payment{w.a.wallet(c), "6.5"}, payment{w.a.wallet(c), "4.25"})...)
	}
	w.credited(brought...)
	group.Wait()
	w.must(refused)
	w.paid(requests)
	set(0)
	w.t.Logf("%s at %s: %v", manners[round], w.networks()[0].chain, time.Since(began).Round(time.Millisecond))
}

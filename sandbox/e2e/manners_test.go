package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// manners are the ways in which hosted providers and load balancers serve nodes: a service works with all of them.
var manners = []string{"balanced", "flaky", "plan-401", "plan-403", "plan-32600", "plan-32601", "too-big", "unbatched",
	"batch-of-3",
	"small-body", "limited", "limited-date"}

// playProviders has payments come in and go out while nodes are served as providers serve them. Nothing of it is waited
// out: what is paid arrives while it lasts.
func playProviders(w *harness) {
	w.stock()
	for round := range manners {
		w.during(round)
	}
	w.audit()
	w.endCleanly()
}

// stock has more come in than will go out, and waits until tokens lie where they are paid from.
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
				return fmt.Errorf("%v units are there", held)
			}
			return nil
		})
	}
}

// during serves every network in a manner, each in another at a time, at all of its endpoints. It is over once payments
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
	orders := w.outside("5.25", 1)
	var group sync.WaitGroup
	var refused error
	group.Go(func() { refused = placeAll(orders, func() {}, (*order).insist) })
	var brought []receipt
	for _, c := range w.currencies {
		brought = append(brought, w.bring(c, payment{w.a.wallet(c), "6.5"}, payment{w.a.wallet(c), "4.25"})...)
	}
	w.credited(brought...)
	group.Wait()
	w.must(refused)
	w.paid(orders)
	set(0)
	w.t.Logf("%s at %s: %v", manners[round], w.networks()[0].chain, time.Since(began).Round(time.Millisecond))
}

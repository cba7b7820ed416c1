package e2e

import (
	"fmt"
	"net/http"
	"time"
)

// manners are the ways in which hosted providers and load balancers serve nodes: a service works with all of them.
var manners = []string{"balanced", "flaky", "plan-401", "plan-403", "plan-32600", "plan-32601", "too-big", "unbatched", "batch-of-3",
	"small-body", "limited", "limited-date"}

// playProviders has payments come in and go out while nodes are served as providers serve them, and while one of two endpoints
// is in trouble. Nothing of it is waited out: what is paid arrives while it lasts.
func playProviders(w *world) {
	w.provided()
	w.halfInTrouble()
	w.audit()
	w.endCleanly()
}

// provided has every network served in every manner, each in another at a time, at all of its endpoints.
func (w *world) provided() {
	for round := range manners {
		w.during(fmt.Sprintf("manners, round %d", round+1), func(i int, n *network, seconds int) {
			w.ill(n, 0, manners[(i+round)%len(manners)], seconds)
		})
	}
}

// halfInTrouble has the first endpoint of every network in every trouble, each in another at a time, while the second is well.
func (w *world) halfInTrouble() {
	for round := range troubles {
		w.during(fmt.Sprintf("troubles of one endpoint, round %d", round+1), func(i int, n *network, seconds int) {
			w.ill(n, 1, troubles[(i+round)%len(troubles)], seconds)
		})
	}
}

// during sets something on every network, and has payments come in and go out in every currency before it ends.
func (w *world) during(what string, set func(i int, n *network, seconds int)) {
	w.t.Helper()
	began := time.Now()
	for i, n := range w.networks() {
		set(i, n, 3600)
	}
	var brought []receipt
	for _, c := range w.currencies {
		brought = append(brought, w.bring(c, payment{w.a.wallet(c), "11.5"}, payment{w.a.wallet(c), "8.25"})...)
	}
	w.credited(brought...)
	in := time.Since(began)
	orders := w.outside("5.25", 1)
	w.must(placeAll(orders, func() {}, (*order).insist))
	w.paid(orders)
	for i, n := range w.networks() {
		set(i, n, 0)
	}
	w.t.Logf("%-40s in after %v, out after %v", what, in.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}

// ill sets a fault at one endpoint of a network, or at all for 0.
func (w *world) ill(n *network, endpoint int, kind string, seconds int) {
	w.t.Helper()
	w.must(w.box.ask(http.MethodPost, "/fault", map[string]any{"chain": n.chain, "endpoint": endpoint, "kind": kind, "seconds": seconds}, nil))
}

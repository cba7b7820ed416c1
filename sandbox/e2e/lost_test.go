package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/patroni"
)

// A primary dies with commits that its standby has not: among them that withdrawals were signed and paid. Nothing on
// Tron would refuse to pay them again. The process that paid them, and one that is started after the promotion, notice
// what is missing, sign the same transactions again, find them on their chains, and go on.
func TestAnAsynchronousFailoverPaysNobodyTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster of PostgreSQL servers is left out by -short")
	}
	p := build(t)
	for name, fresh := range map[string]bool{"same process": false, "fresh process": true} {
		t.Run(name, func(t *testing.T) { loseAPayment(t, p, fresh) })
	}
}

// fewChains are one of each kind that a recovery treats in its own way: with UTXOs, with nonces, and with transactions
// that expire.
const fewChains = "bitcoin,ethereum,tron"

func loseAPayment(t *testing.T, p programs, fresh bool) {
	c := newCluster(t, patroni.Config{})
	w := newRemoteSignerOf(t, p, c.URL(), fewChains)
	for _, native := range w.currencies {
		w.credited(w.bring(native, payment{w.a.wallet(native), "35.5"})...)
	}
	w.run("halt", "--all", "--reason", "the standby is to know what waits, and not that it was paid")
	orders := w.outside("6.25", 1)
	w.must(placeAll(orders, func() {}, (*order).place))
	primary, err := c.WaitPrimary(t.Context(), -1)
	w.must(err)
	w.must(c.WaitCaughtUp(t.Context(), primary))
	c.HoldReplication(primary)
	w.run("resume", "--all")
	w.paid(orders)
	if fresh {
		w.server.kill()
	}
	w.must(c.Kill(primary))
	_, err = c.WaitPrimary(t.Context(), primary)
	w.must(err)
	if fresh {
		w.serve()
	}
	w.eventually("the service notices what was lost", func() error {
		if !strings.Contains(w.server.log.String(), "the database is older than it was") {
			return fmt.Errorf("it says nothing of it")
		}
		return nil
	})
	w.ready()
	w.run("resume", "--all") // that this was done before is lost as well
	w.paid(orders)
	next := w.outside("5.5", 1)
	w.must(placeAll(next, func() {}, (*order).place))
	w.paid(next) // without a wait: the journal knows every payment
	if found := w.recoveries(); len(found.Chains)+len(found.Items) > 0 {
		t.Errorf("chains still recover: %+v", found)
	}
	w.auditRestored()
	w.must(w.server.stop())
	w.endCleanly()
}

// auditRestored is audit for a database that was put back: what it had announced of what it has forgotten is announced
// again, under another ID.
func (w *harness) auditRestored() {
	w.settle()
	for _, o := range w.orders {
		w.arrived(o)
	}
	w.balanced()
	owed := w.owed()
	lines := w.reconcile()
	for _, n := range w.networks() {
		w.solvent(n, owed, lines)
	}
}

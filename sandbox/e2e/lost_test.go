package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/patroni"
)

// TestAnAsynchronousFailoverPaysNobodyTwice kills a primary with commits that its standby does not have: among them
// that withdrawals were signed and paid. On Tron nothing would prevent a second payment. The process that paid them,
// and one that is started after the promotion, notice what is missing, sign the same transactions again, find them on
// their chains, and continue.
func TestAnAsynchronousFailoverPaysNobodyTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a cluster of PostgreSQL servers: left out by -short")
	}
	t.Parallel()
	p := build(t)
	for name, fresh := range map[string]bool{"same process": false, "fresh process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loseAPayment(t, p, fresh)
		})
	}
}

// fewChains are one chain of each kind that a recovery handles in its own way: with UTXOs, with nonces, and with
// transactions that expire.
const fewChains = "bitcoin,ethereum,tron"

// eachAdapter is one chain of each adapter, for what goes on in every one of them and has a database of its own to
// prove. TestSandbox and TestTheRestoreDrill have all chains.
const eachAdapter = "bitcoin,ethereum,tron,solana,xrpl"

func loseAPayment(t *testing.T, p programs, fresh bool) {
	c := newCluster(t, patroni.Config{})
	w := newSeparateService(t, p, c.URL(), fewChains)
	for _, native := range w.currencies {
		w.credited(w.bring(native, payment{w.a.wallet(native), "35.5"})...)
	}
	w.run("halt", "--all", "--reason", "the standby must have the waiting withdrawals, and not their payment")
	requests := w.toExternal("6.25", 1)
	w.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	primary, err := c.WaitPrimary(t.Context(), -1)
	w.must(err)
	w.must(c.WaitCaughtUp(t.Context(), primary))
	c.HoldReplication(primary)
	w.run("resume", "--all")
	w.paid(requests)
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
		if !strings.Contains(w.server.log.String(), `msg="the database is older than it was"`) {
			return fmt.Errorf("the service does not log it")
		}
		return nil
	})
	w.ready()
	// The record that this was done before is lost as well. Where the audit saw first that links are missing, its own
	// halt ends by itself, and the command fails until then.
	w.eventually("payments are resumed", func() error {
		_, err := w.try("resume", "--all")
		return err
	})
	w.paid(requests)
	next := w.toExternal("5.5", 1)
	w.must(placeAll(next, func() {}, (*withdrawalRequest).place))
	w.paid(next) // without a wait: the journal knows every payment
	if found := w.recoveries(); len(found.Chains)+len(found.Items) > 0 {
		t.Errorf("chains are still in recovery: %+v", found)
	}
	w.auditRestored()
	w.must(w.server.stop())
	w.endCleanly()
}

// auditRestored is audit for a restored database: events that were announced and forgotten are announced again, under
// another ID.
func (w *harness) auditRestored() {
	w.settle()
	for _, o := range w.requested {
		w.arrived(o)
	}
	w.balanced()
	owed := w.owed()
	lines := w.reconcile()
	for _, n := range w.networks() {
		w.solvent(n, owed, lines)
	}
}

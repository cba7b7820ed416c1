package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// TestPaymentsByAStolenSeed has a thief with the seed pay from every hot wallet. The service, which requested none of
// it, halts every chain and pays nobody; `bursar chain resume` settles what was taken, waiting withdrawals are paid
// once, reconcile reports the shortfall, and operator funds cover it. The thief is a second installation: an earlier
// copy of the database and its marks takes the place of those that know the payments.
func TestPaymentsByAStolenSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	w := newHarnessOf(t, &harness{t: t, programs: build(t), dir: storetest.Folder(t), endpoints: 1, chains: eachAdapter,
		environment: []string{"BURSAR_WITHDRAWALS_DESTINATION_HOLD=0s"}}) // a destination is usable at once
	w.receive()
	w.settle()
	w.endCleanly()
	own := w.copies("bursar.db", "*.marks")
	w.restart()
	stolen := w.toExternal("6.25", 1)
	w.must(placeAll(stolen, func() {}, (*withdrawalRequest).place))
	w.paid(stolen)
	w.settle()
	w.endCleanly()
	w.putBack(own)
	w.restart()
	w.eventually("every chain is halted", w.haltedEverywhere)
	waiting := w.toExternal("5.5", 1)
	w.must(placeAll(waiting, func() {}, (*withdrawalRequest).place))
	w.mine(untilFinal)
	for _, o := range waiting {
		if got, err := o.look(); err != nil || got.Status != "queued" {
			t.Errorf("on a halted chain the withdrawal of %s is %+v, %v, want %q", o.code, got, err, "queued")
		}
	}
	ether := w.that(func(c *currency) bool { return c.code == "ETH" })[0]
	cold := w.takes(ether, "1.5")
	if status := w.taken(); status != "queued" {
		t.Errorf("on a halted chain the treasury's withdrawal is %s, want %q", status, "queued")
	}
	for _, n := range w.networks() {
		w.run("chain", "resume", n.chain, "--yes", "--reason", "the seed was read in a test")
	}
	w.requested = waiting
	w.paid(waiting)
	w.settle()
	for _, o := range append(waiting, stolen...) {
		if held := w.onChain(o.currency, o.address); held.Cmp(o.units(o.amount)) != 0 {
			t.Errorf("%s: the receiver of %s holds %v units, want 0", o.code, o.amount, held)
		}
	}
	if held := w.onChain(ether, cold); w.taken() != "confirmed" || held.Cmp(ether.units("1.5")) != 0 {
		t.Errorf("the treasury's withdrawal is %s, and its receiver holds %v units, want %q and 0", w.taken(), held,
			"confirmed")
	}
	if out, err := w.try("reconcile", "--json"); err == nil ||
		!strings.Contains(err.Error(), "uncovered: liabilities exceed custody by 6.25 USDT") {
		t.Errorf("customers' tokens were stolen, and reconcile reports %v\n%s, want an error and %q in it", err, out,
			"uncovered: liabilities exceed custody by 6.25 USDT")
	}
	w.coverLosses()
	w.balanced()
	w.endCleanly()
}

// copies reads files of the data directory, by patterns.
func (w *harness) copies(patterns ...string) map[string][]byte {
	w.t.Helper()
	kept := map[string][]byte{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(w.dir, pattern))
		w.must(err)
		if len(paths) == 0 {
			w.t.Fatalf("no %s is in the data directory", pattern)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			w.must(err)
			kept[path] = text
		}
	}
	return kept
}

// putBack replaces the database and other files by copies of a sandbox that has ended.
func (w *harness) putBack(kept map[string][]byte) {
	w.t.Helper()
	for path, text := range kept {
		if strings.HasSuffix(path, ".db") {
			w.replace(text)
			continue
		}
		w.must(os.WriteFile(path, text, 0o600))
	}
}

type halted struct{ Scope, Kind, Ref, Reason string }

// haltedEverywhere returns an error unless an external spend halts every chain.
func (w *harness) haltedEverywhere() error {
	out, err := w.try("halt", "status", "--json")
	if err != nil {
		return err
	}
	var list []halted
	if err := json.Unmarshal(out, &list); err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	by := map[string]bool{}
	for _, h := range list {
		by[h.Scope+" "+h.Kind] = true
	}
	for _, n := range w.networks() {
		if !by["chain:"+n.chain+" external_spend"] {
			return fmt.Errorf("%s is not halted: %+v", n.chain, list)
		}
	}
	return nil
}

// coverLosses sends operator funds in every currency, as reconcile asks for.
func (w *harness) coverLosses() {
	w.t.Helper()
	for _, c := range w.currencies {
		hash := w.pay(c, share{w.view(c.network).Hot, "70"})
		w.mine(untilFinal)
		if c.memo { // nothing distinguishes them from a customer's payment there
			w.run("unattributed", "keep", w.astray(hash).DepositID, "--note", "operator funds")
		}
	}
	w.settle()
}

// treasury is the account of the operator's own money.
const treasury = "74726561-7375-7072-8079-000000000001"

// takes requests a payment of the operator's own money, which waits behind halts like any other.
func (w *harness) takes(c *currency, amount string) (address string) {
	w.t.Helper()
	address = w.external(c)
	w.run("destination", "add", "--account", treasury, "--currency", c.code, "--address", address, "--label", "cold")
	w.run("treasury", "withdraw", c.code, amount, "--to", "cold", "--reason", "fees of the month")
	return address
}

// taken returns the status of the treasury's newest withdrawal.
func (w *harness) taken() string {
	w.t.Helper()
	var list []struct{ Status string }
	w.must(json.Unmarshal(w.run("treasury", "list", "--json"), &list))
	if len(list) != 1 {
		w.t.Fatalf("the treasury has requested %d payments, want at least one", len(list))
	}
	return list[0].Status
}

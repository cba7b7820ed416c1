package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// TestUnattributed sends money that misses its wallet: XRP without a tag and with a wrong one, and a token to the
// address of another currency's wallet. The operator resolves them with the command while the service runs, and at
// the end the books agree with the chains.
func TestUnattributed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	p := build(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		runUnattributed(newHarness(t, p, "", "polygon,xrpl"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		runUnattributed(newHarness(t, p, storetest.ServicePostgres(t), "polygon,xrpl"))
	})
}

// unattributed is a line of `bursar unattributed list`.
type unattributed struct {
	DepositID, Chain, Currency, Amount, Address, HashID, Status, Why string
	WalletAtAddress                                                  *struct{ WalletID, AccountID, Currency string }
	Resolution                                                       *struct {
		Kind, Status, Note                                  string
		AccountID, WalletID, To, Amount, Fee, HashID, Error *string
	}
}

func runUnattributed(w *harness) {
	xrp, matic, usdt := w.a.wallet(w.named("XRP")), w.a.wallet(w.named("MATIC")), w.a.wallet(w.named("USDT-MATIC"))
	hot := w.view(xrp.network).Hot
	untagged := w.astray(w.pay(xrp.currency, share{hot, "25.5"}))
	unknown := w.astray(w.pay(xrp.currency, share{hot + ":4000000000", "31.25"}))
	token := w.astray(w.pay(usdt.currency, share{matic.Address, "12.5"}))
	spare := w.astray(w.pay(usdt.currency, share{matic.Address, "7.25"}))
	little := w.astray(w.pay(xrp.currency, share{hot, "0.75"}))
	if !strings.Contains(unknown.Why, "tag") || token.WalletAtAddress == nil ||
		token.WalletAtAddress.WalletID != matic.WalletID {
		w.t.Errorf("the reasons are %+v and %+v", unknown, token)
	}
	w.keepOperatorFunds(xrp.currency)
	w.refused("is of XRP and the deposit of USDT-MATIC", "assign", token.DepositID, "--wallet", xrp.WalletID)
	w.refused("is an address of this service", "refund", unknown.DepositID, "--to", xrp.Address)
	w.refused("not a payable address", "refund", unknown.DepositID, "--to", matic.Address)
	w.refused("cannot be refunded to that address", "refund", little.DepositID, "--to",
		w.external(xrp.currency)) // less than a new account's reserve
	w.refused("cannot be refunded to that address", "refund", spare.DepositID, "--to",
		"0x0000000000000000000000000000000000000000")
	w.run("unattributed", "keep", little.DepositID)
	w.run("unattributed", "assign", untagged.DepositID, "--wallet", xrp.WalletID, "--note", "forgot the tag")
	w.run("unattributed", "assign", token.DepositID, "--wallet", usdt.WalletID)
	assigned := receipt{xrp, untagged.HashID, []string{"25.5"}}
	w.credited(assigned, receipt{usdt, token.HashID, []string{"12.5"}})
	toXRP, toUSDT := w.external(xrp.currency), w.external(usdt.currency)
	w.run("unattributed", "refund", unknown.DepositID, "--to", toXRP, "--to-memo", "77", "--note", "wrong tag")
	w.run("unattributed", "refund", spare.DepositID, "--to", toUSDT)
	w.sandbox.kill() // while it pays
	w.restart()
	for _, id := range []string{untagged.DepositID, unknown.DepositID} {
		w.refused("the deposit is resolved already", "assign", id, "--account", w.b.AccountID)
		w.refused("the deposit is resolved already", "refund", id, "--to", toXRP)
		w.refused("the deposit is resolved already", "keep", id)
	}
	w.wantRefunded(xrp.currency, unknown, toXRP+":77", "31.25")
	w.wantRefunded(usdt.currency, spare, toUSDT, "7.25")
	for address, want := range map[string]string{matic.Address: "0", usdt.Address: "0", toUSDT: "7.25"} {
		w.eventually("a token is swept to its hot "+
			"wallet", func() error { return w.holds(usdt.currency, address, want) })
	}
	o := w.order(w.a, xrp.currency, "20", w.external(xrp.currency))
	w.must(o.place())
	w.paid([]*withdrawalRequest{o})
	w.arrived(o)
	if left := w.list(); len(left) != 0 {
		w.t.Errorf("unresolved are %+v, want none", left)
	}
	w.notifiedOnce(untagged.HashID)
	w.settled("confirmed", assigned)
	w.reconciled()
	w.healthOf()
	w.endCleanly()
}

// named is the currency with a code.
func (w *harness) named(code string) *currency {
	for _, c := range w.currencies {
		if c.code == code {
			return c
		}
	}
	w.t.Fatalf("currency %s does not exist", code)
	return nil
}

// list runs `bursar unattributed list`.
func (w *harness) list(flags ...string) (lines []unattributed) {
	w.t.Helper()
	w.must(json.Unmarshal(w.run(append([]string{"unattributed", "list", "--json"}, flags...)...), &lines))
	return lines
}

func (w *harness) listed(hash string) (unattributed, error) {
	for _, l := range w.list("--all") {
		if l.HashID == hash {
			return l, nil
		}
	}
	return unattributed{}, fmt.Errorf("transaction %s is not in the list", hash)
}

// astray waits until the unattributed deposit of a transaction can be resolved.
func (w *harness) astray(hash string) (found unattributed) {
	w.t.Helper()
	w.eventually("the unattributed deposit is final", func() (err error) {
		found, err = w.listed(hash)
		if err == nil && found.Status != "confirmed" {
			err = fmt.Errorf("it is %s", found.Status)
		}
		return err
	})
	return found
}

// keepOperatorFunds keeps the operator's own XRP, which comes without a tag.
func (w *harness) keepOperatorFunds(c *currency) {
	w.t.Helper()
	kept := 0
	for _, l := range w.list() {
		if l.Currency == c.code && c.units(l.Amount).Cmp(c.units(c.operatorFunds)) == 0 {
			w.run("unattributed", "keep", l.DepositID, "--note", "capital")
			kept++
		}
	}
	if kept != 1 {
		w.t.Errorf("%d payments look like the operator funds, want 1", kept)
	}
}

// refused runs a resolution that must fail with an explanation.
func (w *harness) refused(explanation string, args ...string) {
	w.t.Helper()
	if _, err := w.try(append([]string{"unattributed"}, args...)...); err == nil ||
		!strings.Contains(err.Error(), explanation) {
		w.t.Errorf("bursar unattributed %v: %v; want %q", args, err, explanation)
	}
}

// wantRefunded waits until a refund to the sender is final, and compares what was paid and kept for fees with the
// deposit.
func (w *harness) wantRefunded(c *currency, l unattributed, to, came string) {
	w.t.Helper()
	w.eventually("the refund to the sender is final", func() (err error) {
		l, err = w.listed(l.HashID)
		if err == nil && (l.Resolution == nil || l.Resolution.Status != "done") {
			err = fmt.Errorf("it is %+v", l.Resolution)
		}
		return err
	})
	if c.sum(*l.Resolution.Amount, *l.Resolution.Fee).Cmp(c.units(came)) != 0 || *l.Resolution.To != to ||
		l.Resolution.HashID == nil {
		w.t.Errorf("of %s %s came back %s, and %s was kept, at %s", came, l.Currency, *l.Resolution.Amount, *l.Resolution.Fee,
			*l.Resolution.To)
	}
	if err := w.holds(c, to, *l.Resolution.Amount); err != nil {
		w.t.Error(err)
	}
}

// holds compares an address's balance on the chain.
func (w *harness) holds(c *currency, address, want string) error {
	if held := w.onChain(c, address); held.Cmp(c.units(want)) != 0 {
		return fmt.Errorf("%s holds %v units of %s, want %s %s", address, held, c.code, want, c.code)
	}
	return nil
}

// notifiedOnce checks that a deposit was announced under one id, however often it was sent.
func (w *harness) notifiedOnce(hash string) {
	w.t.Helper()
	ids := map[string]bool{}
	for _, d := range w.hook.taken() {
		if strings.Contains(string(d.body), hash) {
			ids[d.id] = true
		}
	}
	if len(ids) != 1 {
		w.t.Errorf("transaction %s was announced under the ids %v, want 1 of them", hash, ids)
	}
}

// reconciled waits until the books agree with the chains and no entry waits to be booked.
func (w *harness) reconciled() {
	w.t.Helper()
	w.eventually("the books agree with the chains", func() error {
		var lines []struct{ Currency, Unbooked, Unsettled, Missing, Surplus string }
		out := w.run("reconcile", "--json")
		if err := json.Unmarshal(out, &lines); err != nil || len(lines) == 0 {
			return fmt.Errorf("%s: %w", out, err)
		}
		for _, l := range lines {
			if strings.Trim(l.Unbooked+l.Unsettled+l.Missing+l.Surplus, "0.") != "" {
				return fmt.Errorf("%s differs: %+v", l.Currency, l)
			}
		}
		return nil
	})
}

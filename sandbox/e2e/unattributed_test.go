package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// Money that misses its wallet: XRP without a tag and with a wrong one, and a token at the address of another currency's
// wallet. The operator decides with the command while the service runs, and the books equal the chains in the end.
func TestUnattributed(t *testing.T) {
	if testing.Short() {
		t.Skip("the sandbox as a process is left out by -short")
	}
	p := build(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		playUnattributed(newWorld(t, p, "", "polygon,xrpl"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		playUnattributed(newWorld(t, p, storetest.Postgres(t), "polygon,xrpl"))
	})
}

// undecided is a line of `bursar unattributed list`.
type undecided struct {
	DepositID, Chain, Currency, Amount, Address, HashID, Status, Why string
	WalletAtAddress                                                  *struct{ WalletID, AccountID, Currency string }
	Decision                                                         *struct {
		Kind, Status, Note                                  string
		AccountID, WalletID, To, Amount, Fee, HashID, Error *string
	}
}

func playUnattributed(w *world) {
	hot := w.hotAddress("xrpl")
	xrp, matic, usdt := w.a.wallet("XRP"), w.a.wallet("MATIC"), w.a.wallet("USDT-MATIC")
	at := func(address string) wallet { return wallet{Address: address} }
	untagged := w.stray(w.pay("XRP", share{at(hot), "25.5"}))
	unknown := w.stray(w.pay("XRP", share{at(hot + ":4000000000"), "31.25"}))
	token := w.stray(w.pay("USDT-MATIC", share{at(matic.Address), "12.5"}))
	spare := w.stray(w.pay("USDT-MATIC", share{at(matic.Address), "7.25"}))
	little := w.stray(w.pay("XRP", share{at(hot), "0.75"}))
	if !strings.Contains(unknown.Why, "tag") || token.WalletAtAddress == nil || token.WalletAtAddress.WalletID != matic.WalletID {
		w.t.Errorf("it is said why: %+v and %+v", unknown, token)
	}
	w.keepCapital()
	w.refused("is of XRP and the deposit of USDT-MATIC", "assign", token.DepositID, "--wallet", xrp.WalletID)
	w.refused("is our own", "return", unknown.DepositID, "--to", xrp.Address)
	w.refused("not a payable address", "return", unknown.DepositID, "--to", matic.Address)
	w.refused("cannot be paid back there", "return", little.DepositID, "--to", w.outsider("XRP")) // less than a new account's reserve
	w.refused("cannot be paid back there", "return", spare.DepositID, "--to", "0x0000000000000000000000000000000000000000")
	w.run("unattributed", "keep", little.DepositID)
	w.run("unattributed", "assign", untagged.DepositID, "--wallet", xrp.WalletID, "--note", "forgot the tag")
	w.run("unattributed", "assign", token.DepositID, "--wallet", usdt.WalletID)
	w.credited(xrp, untagged.HashID, "25.5")
	w.credited(usdt, token.HashID, "12.5")
	w.toldOnce(untagged.HashID)
	toXRP, toUSDT := w.outsider("XRP"), w.outsider("USDT-MATIC")
	w.run("unattributed", "return", unknown.DepositID, "--to", toXRP, "--to-memo", "77", "--note", "wrong tag")
	w.run("unattributed", "return", spare.DepositID, "--to", toUSDT)
	w.restart() // killed while it pays
	for _, id := range []string{untagged.DepositID, unknown.DepositID} {
		w.refused("it is decided already", "assign", id, "--account", w.b.AccountID)
		w.refused("it is decided already", "return", id, "--to", toXRP)
		w.refused("it is decided already", "keep", id)
	}
	w.wantReturned(unknown, toXRP+":77", "31.25")
	w.wantReturned(spare, toUSDT, "7.25")
	for address, want := range map[string]string{matic.Address: "0", usdt.Address: "0", toUSDT: "7.25"} {
		eventually(w.t, patience, "a token is where it belongs", func() error { return w.holds("USDT-MATIC", address, want) })
	}
	o := w.order(w.a, "XRP", "20", w.outsider("XRP"))
	w.must(o.place())
	w.paid([]*order{o})
	w.arrived(o)
	if left := w.list(); len(left) != 0 {
		w.t.Errorf("undecided are %+v", left)
	}
	w.settled(xrp, untagged.HashID, "confirmed", 1)
	w.reconciled()
	if err := w.box.stop(); err != nil {
		w.t.Fatalf("the sandbox does not end cleanly: %v\n%s", err, w.box.log)
	}
}

// hotAddress is our own address on a chain.
func (w *world) hotAddress(id string) string {
	w.t.Helper()
	var all struct{ Chains map[string]chainView }
	w.must(w.box.ask(http.MethodGet, "/chains", nil, &all))
	return all.Chains[id].Hot
}

// list runs `bursar unattributed list`.
func (w *world) list(flags ...string) (lines []undecided) {
	w.t.Helper()
	w.must(json.Unmarshal(w.run(append([]string{"unattributed", "list", "--json"}, flags...)...), &lines))
	return lines
}

func (w *world) listed(hash string) (undecided, error) {
	for _, l := range w.list("--all") {
		if l.HashID == hash {
			return l, nil
		}
	}
	return undecided{}, fmt.Errorf("transaction %s is not in the list", hash)
}

// stray waits until what a transaction brought can be decided.
func (w *world) stray(hash string) (found undecided) {
	w.t.Helper()
	eventually(w.t, patience, "unattributed value is final", func() (err error) {
		found, err = w.listed(hash)
		if err == nil && found.Status != "confirmed" {
			err = fmt.Errorf("it is %s", found.Status)
		}
		return err
	})
	return found
}

// keepCapital keeps the operator's own XRP, which comes without a tag.
func (w *world) keepCapital() {
	w.t.Helper()
	kept := 0
	for _, l := range w.list() {
		if l.Currency == "XRP" && units("XRP", l.Amount).Cmp(units("XRP", "50")) == 0 {
			w.run("unattributed", "keep", l.DepositID, "--note", "capital")
			kept++
		}
	}
	if kept != 1 {
		w.t.Errorf("%d payments look like the capital", kept)
	}
}

// refused runs a decision that must fail with an explanation.
func (w *world) refused(explanation string, args ...string) {
	w.t.Helper()
	command := exec.Command(w.programs.bursar, append(append([]string{"unattributed"}, args...), "--config", filepath.Join(w.dir, "bursar.yaml"))...)
	command.Env = append(os.Environ(), "BURSAR_PASSPHRASE_FILE="+filepath.Join(w.dir, "passphrase"))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	if err := command.Run(); err == nil || !strings.Contains(complaint.String(), explanation) {
		w.t.Errorf("bursar unattributed %v: %v, %s; wanted %q", args, err, &complaint, explanation)
	}
}

// wantReturned waits until a return is final, and holds what was paid and kept for fees against what came.
func (w *world) wantReturned(l undecided, to, came string) {
	w.t.Helper()
	eventually(w.t, patience, "return is done", func() (err error) {
		l, err = w.listed(l.HashID)
		if err == nil && (l.Decision == nil || l.Decision.Status != "done") {
			err = fmt.Errorf("it is %+v", l.Decision)
		}
		return err
	})
	paid, kept := units(l.Currency, *l.Decision.Amount), units(l.Currency, *l.Decision.Fee)
	if sum := paid.Add(paid, kept); sum.Cmp(units(l.Currency, came)) != 0 || *l.Decision.To != to || l.Decision.HashID == nil {
		w.t.Errorf("of %s %s came back %s, and %s was kept, at %s", came, l.Currency, *l.Decision.Amount, *l.Decision.Fee, *l.Decision.To)
	}
	base, _, _ := strings.Cut(to, ":")
	if err := w.holds(l.Currency, base, *l.Decision.Amount); err != nil {
		w.t.Error(err)
	}
}

// holds compares what the chain says that an address holds.
func (w *world) holds(currency, address, want string) error {
	held, err := w.onChain(currency, address)
	if err == nil && units(currency, held).Cmp(units(currency, want)) != 0 {
		err = fmt.Errorf("%s holds %s of %s, want %s", address, held, currency, want)
	}
	return err
}

// toldOnce checks that a deposit was announced under one id, however often it was sent.
func (w *world) toldOnce(hash string) {
	w.t.Helper()
	var got struct{ Deliveries []delivery }
	w.must(w.box.ask(http.MethodGet, "/webhooks", nil, &got))
	ids := map[string]bool{}
	for _, d := range got.Deliveries {
		if strings.Contains(d.Body, hash) {
			ids[d.Headers["webhook-id"]] = true
		}
	}
	if len(ids) != 1 {
		w.t.Errorf("transaction %s was announced under the ids %v", hash, ids)
	}
}

// reconciled waits until the books equal the chains and nothing waits to be booked.
func (w *world) reconciled() {
	w.t.Helper()
	eventually(w.t, patience, "the books equal the chains", func() error {
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

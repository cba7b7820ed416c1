package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTheRestoreDrill copies a database, does much that the copy does not know, destroys the database, and brings the
// service back as the runbook says, in each of the runbook's ways. The service recovers by itself except for what
// only the operator can decide; nobody is paid twice, no address is given to a second customer, and the books agree
// with the chains.
func TestTheRestoreDrill(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the service as a process: left out by -short")
	}
	t.Parallel()
	p := build(t)
	for name, drill := range map[string]struct {
		way    func(testing.TB) way
		chains string
		held   bool
	}{
		"backup":     {newFileWay, "", false},
		"litestream": {newLitestreamWay, fewChains, true},
		"pgbackrest": {newArchiveWay, fewChains, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := drill.way(t)
			practise(newSeparateService(t, p, copied.database(), drill.chains), copied, drill.held)
		})
	}
}

// way is one of the runbook's ways to copy a database and to restore it.
type way interface {
	database() string // its URL; empty: the sandbox's file
	begin(*harness)   // copies everything from now on
	copy(*harness)    // everything that was done so far, and nothing after it
	lose(*harness)    // the database, with the service started on top of it
	restore(*harness)
}

// drilled is what was done before and after the copy.
type drilled struct {
	*harness
	held      bool                 // payments are halted, and blocks are mined, until everything forgotten is listed
	home      map[*currency]wallet // of the first account, in the copy
	other     map[*currency]wallet // of the second
	waiting   []*withdrawalRequest // waiting in the copy, and paid after it
	forgotten []*withdrawalRequest // not in the copy
	transfers []*withdrawalRequest // not in the copy, and on no chain
	lost      []receipt            // to wallets that are not in the copy
	empty     []wallet             // not in the copy either, and paid after the restore
	given     map[string]bool      // the addresses of both
	lets      func()               // ends what the chains wait for, where they do not by themselves; nil: they do
}

func practise(w *harness, copied way, held bool) {
	d := &drilled{harness: w, held: held, home: map[*currency]wallet{}, other: map[*currency]wallet{},
		given: map[string]bool{}}
	for _, scene := range []struct {
		name string
		run  func()
	}{
		{"copied", func() { d.before(copied) }}, {"forgotten", d.after}, {"restored", func() { d.disaster(copied) }},
		{"recovered", d.recover}, {"found", d.attribute}, {"goes on", d.next}, {"audit", d.auditRestored},
	} {
		began := time.Now()
		scene.run()
		w.t.Logf("%-10s %v", scene.name, time.Since(began).Round(time.Millisecond))
	}
	d.quiet()
	w.must(w.server.stop())
	w.endCleanly()
}

// before does what the copy knows: deposits, withdrawals that were paid, and some that wait.
func (d *drilled) before(copied way) {
	copied.begin(d.harness)
	var received []receipt
	for _, c := range d.currencies {
		d.home[c], d.other[c] = d.a.wallet(c), d.b.wallet(c)
		received = append(received, d.bring(c, payment{d.home[c], "60.5"}, payment{d.other[c], "12.25"})...)
	}
	d.mine(untilFinal)
	d.settled("confirmed", received...)
	d.pays(d.toExternal("6.25", 1))
	d.run("halt", "--all", "--reason", "the copy must contain the waiting withdrawals, and not their payment")
	d.waiting = d.toExternal("7.25", 1)
	d.must(placeAll(d.waiting, func() {}, (*withdrawalRequest).place))
	copied.copy(d.harness)
	d.run("resume", "--all")
	d.sent(d.waiting)
	d.mine(untilFinal)
	d.paid(d.waiting)
}

// after does what the copy does not know, up to the last payments, which are signed and in no block.
func (d *drilled) after() {
	var received []receipt
	for _, c := range d.currencies {
		received = append(received, d.bring(c, payment{d.home[c], "8.25"})...)
		paid, empty := d.a.wallet(c), d.a.wallet(c)
		d.given[paid.Address], d.given[empty.Address] = true, true
		d.lost, d.empty = append(d.lost, d.bring(c, payment{paid, "3.5"})...), append(d.empty, empty)
		d.transfers = append(d.transfers, d.order(d.a, c, "5.25", d.other[c].Address))
	}
	d.mine(untilFinal)
	d.settled("confirmed", append(received, d.lost...)...)
	d.must(placeAll(d.transfers, func() {}, (*withdrawalRequest).place))
	d.paid(d.transfers)
	d.forgotten = d.toExternal("5.5", 1)
	for _, c := range d.currencies { // which needs what was transferred
		d.forgotten = append(d.forgotten, d.order(d.b, c, "14.5", d.external(c)))
	}
	d.pays(d.forgotten)
	d.blocks("manual")
	last := d.toExternal("5.75", 1)
	d.must(placeAll(last, func() {}, (*withdrawalRequest).place))
	d.sent(last)
	d.forgotten = append(d.forgotten, last...)
}

// pays places withdrawals and waits until they are final.
func (d *drilled) pays(requests []*withdrawalRequest) {
	d.t.Helper()
	d.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	d.sent(requests)
	d.mine(untilFinal)
	d.paid(requests)
}

// sent waits until withdrawals are broadcast.
func (w *harness) sent(requests []*withdrawalRequest) {
	w.t.Helper()
	for _, o := range requests {
		w.eventually("withdrawal of "+o.code+" is sent", func() error {
			got, err := o.look()
			if err == nil && got.Status != "broadcast" && got.Status != "confirmed" {
				err = fmt.Errorf("withdrawal %s is %s", o.id, got.Status)
			}
			return err
		})
	}
}

func (d *drilled) disaster(copied way) {
	copied.lose(d.harness)
	copied.restore(d.harness)
	if d.held {
		d.run("halt", "--all", "--reason", "restored")
	}
	d.serve()
	d.ready()
	if !d.held {
		d.run("resume", "--all") // the record that this was done before is lost as well
		return
	}
	d.blocks("auto")
	d.mine(untilFinal)
}

// recover waits until the service knows everything that its chains know, and answers what it asks, as
// docs/operations/recovery.md says: customers repeat the withdrawals that were lost with the database, and the
// operator confirms that they are paid.
func (d *drilled) recover() {
	d.paid(d.waiting)
	d.eventually("every forgotten payment is listed", func() error {
		items := d.recoveries().Items
		for _, o := range d.forgotten {
			by := slices.DeleteFunc(slices.Clone(items), func(item unclear) bool { return !item.pays(o) })
			if len(by) != 1 {
				return fmt.Errorf("%s %s to %s is paid by %d unclear payments, want one: "+
					"%+v", o.amount, o.code, o.address, len(by), by)
			}
		}
		return nil
	})
	for _, l := range append(slices.Clone(d.empty), d.empty...) {
		if next := d.b.wallet(l.currency); d.given[next.Address] {
			d.t.Errorf("%s: %s was given out twice", l.code, next.Address)
		}
	}
	for _, o := range append(slices.Clone(d.transfers), d.forgotten...) {
		o.id = ""
		d.must(o.place()) // a transfer before the payment that it made possible
	}
	d.paid(d.transfers)
	if d.held { // the copy has the halt of before, and the service was halted again after the restore
		var halts []struct{ Scope, Kind, Ref string }
		d.must(json.Unmarshal(d.run("halt", "status", "--json"), &halts))
		arguments := []string{"resume", "--all"}
		for _, h := range halts {
			if h.Kind == "operator" {
				arguments = append(arguments, "--halt", h.Ref)
			}
		}
		d.run(arguments...)
	}
	d.eventually("everything is explained", d.explain)
	d.blocks("auto")
	d.mine(untilFinal)
	if d.lets != nil {
		d.lets()
	}
	d.paid(d.forgotten)
	d.eventually("no chain is in recovery", func() error {
		if found := d.recoveries(); len(found.Chains)+len(found.Items) > 0 {
			return fmt.Errorf("%+v", found)
		}
		return nil
	})
}

// pays reports whether it paid the receiver of a withdrawal.
func (u unclear) pays(o *withdrawalRequest) bool {
	to := " " + o.code + " to " + o.address
	return slices.ContainsFunc(u.Paid, func(paid string) bool { return strings.HasSuffix(paid, to) })
}

// explain confirms for each unclear payment that it has paid the withdrawal that waits for the same receiver; it
// returns an error while a payment is unclear.
func (d *drilled) explain() error {
	items := d.recoveries().Items
	var errs []error
	for _, item := range items {
		if len(item.Candidates) != len(item.Paid) {
			errs = append(errs, fmt.Errorf("the number of candidates is not that of the payments: %+v", item))
			continue
		}
		args := []string{"recovery", "adopt", fmt.Sprint(item.Item)}
		for _, id := range item.Candidates {
			args = append(args, "--withdrawal", id)
		}
		if _, err := d.try(args...); err != nil {
			errs = append(errs, err)
		}
	}
	if len(items) > 0 {
		errs = append(errs, fmt.Errorf("%d payments were unclear: %+v", len(items), items))
	}
	return errors.Join(errs...)
}

// attribute finds the deposits to forgotten wallets, before the restore and after it, and assigns them to their
// owner.
func (d *drilled) attribute() {
	found := slices.Clone(d.lost)
	for _, l := range d.empty {
		found = append(found, d.bring(l.currency, payment{l, "2.75"})...)
	}
	d.mine(untilFinal)
	for _, r := range found {
		at := d.astray(r.hash)
		if at.Address != r.Address || r.units(at.Amount).Cmp(r.units(r.amounts[0])) != 0 {
			d.t.Errorf("%s %s was paid to %s, but the list has %+v", r.amounts[0], r.code, r.Address, at)
		}
		r.wallet = d.home[r.currency]
		d.run("unattributed", "assign", at.DepositID, "--wallet", r.WalletID, "--note", "the wallet was lost")
		d.settled("confirmed", r)
	}
}

// next does more of everything after the restore.
func (d *drilled) next() {
	var received []receipt
	var requests []*withdrawalRequest
	for _, c := range d.currencies {
		l := d.a.wallet(c)
		received = append(received, d.bring(c, payment{l, "9.5"})...)
		requests = append(requests, d.order(d.a, c, "5.25", d.other[c].Address))
	}
	d.pays(append(requests, d.toExternal("8.25", 1)...))
	d.credited(received...)
}

// quiet checks that the books agree and that no alarm and no resolution is left for the operator, except for the
// operator funds where addresses are shared.
func (d *drilled) quiet() {
	d.run("ledger", "verify")
	var alarms []struct{ Kind, Message string }
	d.must(json.Unmarshal(d.run("alarm", "list", "--json"), &alarms))
	for _, a := range alarms {
		if a.Kind != "unattributed" {
			d.t.Errorf("an alarm is still raised: %s: %s, want %q", a.Kind, a.Message, "unattributed")
		}
	}
	for _, l := range d.list() {
		if c := d.named(l.Currency); !c.memo || c.units(l.Amount).Cmp(c.units(c.operatorFunds)) != 0 {
			d.t.Errorf("unresolved is %+v", l)
		}
	}
}

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

// The restore drill: a database is copied, much happens that the copy does not know, the database is destroyed, and
// what the runbook says brings the service back, in each of the runbook's ways. It recovers by itself but for what
// nobody can know without a word of the operator; nobody is paid twice, no address is given to a second customer,
// and the books equal the chains.
func TestTheRestoreDrill(t *testing.T) {
	if testing.Short() {
		t.Skip("the service as a process is left out by -short")
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
			practise(newRemoteSignerOf(t, p, copied.database(), drill.chains), copied, drill.held)
		})
	}
}

// way is one of the runbook's ways to copy a database and to bring it back.
type way interface {
	database() string // its URL; empty: the sandbox's file
	begin(*harness)   // with what goes on from now on
	copy(*harness)    // all that was done so far, and nothing after it
	lose(*harness)    // the database, with the service on top of it
	restore(*harness)
}

// drilled is what was done after the copy.
type drilled struct {
	*harness
	held      bool                 // payments are halted, and blocks come, until all that was forgotten is listed
	home      map[*currency]wallet // of the first account, in the copy
	other     map[*currency]wallet // of the second
	waiting   []*order             // in the copy as waiting, and paid after it
	forgotten []*order             // not in the copy
	transfers []*order             // not in the copy, and on no chain
	lost      []receipt            // at wallets that are not in the copy
	empty     []wallet             // that are not in the copy either, and are paid after the restore
	given     map[string]bool      // the addresses of both
}

func practise(w *harness, copied way, held bool) {
	d := &drilled{harness: w, held: held, home: map[*currency]wallet{}, other: map[*currency]wallet{},
		given: map[string]bool{}}
	for _, scene := range []struct {
		name string
		play func()
	}{
		{"copied", func() { d.before(copied) }}, {"forgotten", d.after}, {"restored", func() { d.disaster(copied) }},
		{"recovered", d.recover}, {"found", d.attribute}, {"goes on", d.next}, {"audit", d.auditRestored},
	} {
		began := time.Now()
		scene.play()
		w.t.Logf("%-10s %v", scene.name, time.Since(began).Round(time.Millisecond))
	}
	d.quiet()
	w.must(w.server.stop())
	w.endCleanly()
}

// before is what the copy knows: deposits, withdrawals that were paid, and some that wait.
func (d *drilled) before(copied way) {
	copied.begin(d.harness)
	var received []receipt
	for _, c := range d.currencies {
		d.home[c], d.other[c] = d.a.wallet(c), d.b.wallet(c)
		received = append(received, d.bring(c, payment{d.home[c], "60.5"}, payment{d.other[c], "12.25"})...)
	}
	d.mine(untilFinal)
	d.settled("confirmed", received...)
	d.pays(d.outside("6.25", 1))
	d.run("halt", "--all", "--reason", "the copy is to know what waits, and not that it was paid")
	d.waiting = d.outside("7.25", 1)
	d.must(placeAll(d.waiting, func() {}, (*order).place))
	copied.copy(d.harness)
	d.run("resume", "--all")
	d.sent(d.waiting)
	d.mine(untilFinal)
	d.paid(d.waiting)
}

// after is what the copy does not know, to the last payments, which are signed and in no block.
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
	d.must(placeAll(d.transfers, func() {}, (*order).place))
	d.paid(d.transfers)
	d.forgotten = d.outside("5.5", 1)
	for _, c := range d.currencies { // which takes what was transferred
		d.forgotten = append(d.forgotten, d.order(d.b, c, "14.5", d.outsider(c)))
	}
	d.pays(d.forgotten)
	d.blocks("manual")
	last := d.outside("5.75", 1)
	d.must(placeAll(last, func() {}, (*order).place))
	d.sent(last)
	d.forgotten = append(d.forgotten, last...)
}

// pays has orders paid for good.
func (d *drilled) pays(orders []*order) {
	d.t.Helper()
	d.must(placeAll(orders, func() {}, (*order).place))
	d.sent(orders)
	d.mine(untilFinal)
	d.paid(orders)
}

// sent waits until withdrawals are with the nodes.
func (d *drilled) sent(orders []*order) {
	d.t.Helper()
	for _, o := range orders {
		d.eventually("withdrawal of "+o.code+" is sent", func() error {
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
		d.run("resume", "--all") // that this was done before is lost as well
		return
	}
	d.blocks("auto")
	d.mine(untilFinal)
}

// recover waits until the service knows all that its chains know, and answers what it asks, as
// docs/operations/recovery.md says: customers order again what was lost with the database, and the operator says
// that it is paid.
func (d *drilled) recover() {
	d.paid(d.waiting)
	d.eventually("every payment that was forgotten is listed", func() error {
		items := d.recoveries().Items
		for _, o := range d.forgotten {
			by := slices.DeleteFunc(slices.Clone(items), func(item unclear) bool { return !item.pays(o) })
			if len(by) != 1 {
				return fmt.Errorf("%s %s to %s is paid by %d unclear payments: %+v", o.amount, o.code, o.address, len(by), by)
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
		d.must(o.place()) // a transfer before what it paid for
	}
	d.paid(d.transfers)
	if d.held {
		d.run("resume", "--all")
	}
	d.eventually("all is explained", d.explain)
	d.blocks("auto")
	d.mine(untilFinal)
	d.paid(d.forgotten)
	d.eventually("no chain recovers", func() error {
		if found := d.recoveries(); len(found.Chains)+len(found.Items) > 0 {
			return fmt.Errorf("%+v", found)
		}
		return nil
	})
}

// pays reports whether it went to the receiver of an order.
func (u unclear) pays(o *order) bool {
	to := " " + o.code + " to " + o.address
	return slices.ContainsFunc(u.Paid, func(paid string) bool { return strings.HasSuffix(paid, to) })
}

// explain says of each unclear payment that it has paid the withdrawals that wait for the same receivers; it returns
// an error while anything is unclear.
func (d *drilled) explain() error {
	items := d.recoveries().Items
	var errs []error
	for _, item := range items {
		if len(item.Candidates) != len(item.Paid) {
			errs = append(errs, fmt.Errorf("the candidates are not as many as the payments: %+v", item))
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

// attribute finds what was paid to wallets that are forgotten, before the restore and after it, and gives it to
// their owner.
func (d *drilled) attribute() {
	found := slices.Clone(d.lost)
	for _, l := range d.empty {
		found = append(found, d.bring(l.currency, payment{l, "2.75"})...)
	}
	d.mine(untilFinal)
	for _, r := range found {
		at := d.astray(r.hash)
		if at.Address != r.Address || r.units(at.Amount).Cmp(r.units(r.amounts[0])) != 0 {
			d.t.Errorf("%s %s was paid to %s; listed is %+v", r.amounts[0], r.code, r.Address, at)
		}
		r.wallet = d.home[r.currency]
		d.run("unattributed", "assign", at.DepositID, "--wallet", r.WalletID, "--note", "the wallet was lost")
		d.settled("confirmed", r)
	}
}

// next is what goes on as before.
func (d *drilled) next() {
	var received []receipt
	var orders []*order
	for _, c := range d.currencies {
		l := d.a.wallet(c)
		received = append(received, d.bring(c, payment{l, "9.5"})...)
		orders = append(orders, d.order(d.a, c, "5.25", d.other[c].Address))
	}
	d.pays(append(orders, d.outside("8.25", 1)...))
	d.credited(received...)
}

// quiet checks that the books hold and that nothing is left for an operator, but for the capital where addresses are
// shared.
func (d *drilled) quiet() {
	d.run("ledger", "verify")
	var alarms []struct{ Kind, Message string }
	d.must(json.Unmarshal(d.run("alarm", "list", "--json"), &alarms))
	for _, a := range alarms {
		if a.Kind != "unattributed" {
			d.t.Errorf("an alarm is left: %s: %s", a.Kind, a.Message)
		}
	}
	for _, l := range d.list() {
		if c := d.named(l.Currency); !c.memo || c.units(l.Amount).Cmp(c.units(c.capital)) != 0 {
			d.t.Errorf("undecided is %+v", l)
		}
	}
}

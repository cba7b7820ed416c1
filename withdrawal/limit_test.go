package withdrawal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

func (d *harness) limits() *withdrawal.Limits {
	return &withdrawal.Limits{DB: d.DB, Registry: d.config.Registry, Log: d.config.Log}
}

// limit sets a limit of COIN; a nil amount removes it.
func (d *harness) limit(account bursar.ID, kind bursar.LimitKind, units *uint64, loosen bool) error {
	d.Helper()
	c := withdrawal.LimitChange{Rule: bursar.LimitRule{AccountID: account, Currency: "COIN", Kind: kind, Actor: "Ann",
		Reason: "r"}, Remove: units == nil, Loosen: loosen}
	if units != nil {
		c.Rule.Amount = bursar.Units(*units)
	}
	return d.limits().Change(ctx, c)
}

// waits checks whether a withdrawal of Ann's, and its quote, waits for an approval.
func (d *harness) waits(what string, units uint64, to string, want bool) {
	d.Helper()
	status := bursar.WithdrawalQueued
	if want {
		status = bursar.WithdrawalPendingApproval
	}
	if w := d.accept(units, to); w.Status != status && (want || w.Status != bursar.WithdrawalConfirmed) {
		d.Errorf("%s: it is %s, want %s", what, w.Status, status)
	}
	q, err := d.orders.Quote(ctx, d.order(units, to))
	d.Must(err)
	if q.Approval != want {
		d.Errorf("%s: by its quote it waits %t, want %t", what, q.Approval, want)
	}
}

// above checks that a withdrawal and its quote are refused as too large, and that nothing is held.
func (d *harness) above(what string, units uint64, most string) {
	d.Helper()
	before := d.available(ann)
	_, err := d.ask(units, d.node.Named("a"))
	d.refused(what, err, bursar.CodeAboveMaximum, most)
	_, err = d.orders.Quote(ctx, d.order(units, d.node.Named("a")))
	d.refused(what+", its quote", err, bursar.CodeAboveMaximum, most)
	if now := d.available(ann); now != before {
		d.Errorf("%s: %s is available, want %s as before", what, now, before)
	}
}

func TestALimitOfOperatorsRefusesWhatIsLarger(t *testing.T) {
	d := newHarness(t)
	five, seven, huge := uint64(5_000), uint64(7_000), uint64(1)<<62
	d.accept(9_000, d.node.Named("a"))
	d.Must(d.limit(bursar.ID{}, bursar.LimitMaximum, &five, false))
	d.above("above that of every account", 5_001, "0.00005000")
	d.accept(5_000, d.node.Named("a"))
	q, err := d.orders.Quote(ctx, d.order(5_000, d.node.Named("a")))
	d.Must(err)
	if q.Currency.WithdrawalMaximum != bursar.Units(five) {
		t.Errorf("the quote says that the largest withdrawal is %s, want %d", q.Currency.WithdrawalMaximum, five)
	}
	d.refused("a first own one above that of every account", d.limit(ann, bursar.LimitMaximum, &seven, false),
		bursar.CodeInvalidRequest, "propose it")
	d.Must(d.limit(ann, bursar.LimitMaximum, &seven, true))
	d.above("above that of every account, with a higher one of her own", 5_001, "0.00005000")
	d.Must(d.limit(bursar.ID{}, bursar.LimitMaximum, nil, true))
	d.above("above her own", 7_001, "0.00007000")
	d.accept(7_000, d.node.Named("a"))
	d.Must(d.limit(bob, bursar.LimitMaximum, &five, false))
	d.Must(d.limit(bursar.ID{}, bursar.LimitMaximum, &five, false))
	d.above("above one of every account that was set later", 5_001, "0.00005000")
	d.Must(d.limit(bursar.ID{}, bursar.LimitMaximum, &huge, true))
	d.Must(d.limit(ann, bursar.LimitMaximum, &huge, true))
	d.above("above the configuration's, below both others", 100_000_000_001, "1000.00000000")
	d.Must(d.limit(ann, bursar.LimitMaximum, nil, true))
	d.Must(d.limit(bursar.ID{}, bursar.LimitMaximum, nil, true))
	d.accept(9_000, d.node.Named("a"))
}

// A payment within the service waits too, and what waits is not paid by the limit's end.
func TestALimitOfOperatorsHasWithdrawalsWait(t *testing.T) {
	d := newHarness(t)
	d.wallet(bob, "COIN", "bob", 0)
	none, ten, huge := uint64(0), uint64(10_000), uint64(1)<<62
	d.waits("without a limit", 20_000, d.node.Named("a"), false)
	d.Must(d.limit(ann, bursar.LimitApproval, &ten, false))
	d.waits("at the limit", 10_000, d.node.Named("a"), false)
	d.waits("above the limit", 10_001, d.node.Named("a"), true)
	d.waits("above it, inside", 10_001, d.node.Named("bob"), true)
	d.Must(d.limit(ann, bursar.LimitApproval, &none, false))
	waiting := d.accept(500, d.node.Named("a"))
	d.waits("where every one waits", 500, d.node.Named("a"), true)
	d.Must(d.limit(ann, bursar.LimitApproval, &huge, true))
	d.waits("above the configuration's, with a higher one of her own", 50_000_001, d.node.Named("a"), true)
	d.waits("below both", 50_000_000, d.node.Named("a"), false)
	if now := d.current(waiting); now.Status != bursar.WithdrawalPendingApproval {
		t.Errorf("what waited before the limit was raised is %s, want it to wait", now.Status)
	}
}

func TestWhatIsNoChangeOfALimit(t *testing.T) {
	d := newHarness(t)
	none, five, six := uint64(0), uint64(5_000), uint64(6_000)
	d.refused("a largest withdrawal of zero", d.limit(ann, bursar.LimitMaximum, &none, true), bursar.CodeInvalidAmount, "")
	d.refused("of nobody", d.limit(bursar.ID{9}, bursar.LimitMaximum, &five, true), bursar.CodeNotFound, "")
	d.refused("the end of none", d.limit(ann, bursar.LimitMaximum, nil, true), bursar.CodeInvalidRequest, "not set")
	d.refused("of no currency", d.limits().Change(ctx, withdrawal.LimitChange{Rule: bursar.LimitRule{Currency: "X"}}),
		bursar.CodeUnsupportedCurrency, "")
	d.Must(d.limit(ann, bursar.LimitMaximum, &five, false))
	d.refused("the same again", d.limit(ann, bursar.LimitMaximum, &five, true), bursar.CodeInvalidRequest,
		"0.00005000 COIN, of the account")
	d.refused("more than one may", d.limit(ann, bursar.LimitMaximum, &six, false), bursar.CodeInvalidRequest, "propose it")
	d.refused("its end by one", d.limit(ann, bursar.LimitMaximum, nil, false), bursar.CodeInvalidRequest, "propose it")
	d.above("with the limit that there is", 5_001, "0.00005000")
}

// What is recorded beside a change belongs to it: without the record there is no change.
func TestALimitThatIsNotRecordedIsNotChanged(t *testing.T) {
	d := newHarness(t)
	lost := errors.New("lost")
	err := d.limits().Change(ctx, withdrawal.LimitChange{
		Rule: bursar.LimitRule{AccountID: ann, Currency: "COIN", Kind: bursar.LimitApproval, Amount: bursar.Units(7)},
		Done: func(_ context.Context, _ *store.Tx, was, is string) error {
			if was != "not set" || is != "0.00000007 COIN, of the account" {
				t.Errorf("recorded is %q, then %q; want not set, then the limit", was, is)
			}
			return lost
		}})
	if !errors.Is(err, lost) {
		t.Errorf("the change gave %v, want %v", err, lost)
	}
	d.waits("without the limit", 20_000, d.node.Named("a"), false)
}

// A request that is sent again is answered with what came of it, whatever a limit has become since.
func TestALimitTakesNothingBack(t *testing.T) {
	d := newHarness(t)
	o := d.order(20_000, d.node.Named("a"))
	o.Reference = "r-1"
	first, err := d.orders.Request(ctx, o)
	d.Must(err)
	five := uint64(5_000)
	d.Must(d.limit(ann, bursar.LimitMaximum, &five, false))
	again, err := d.orders.Request(ctx, o)
	d.Must(err)
	if again.ID != first.ID || again.Status != bursar.WithdrawalQueued {
		t.Errorf("sent again it is %+v, want %+v", again, first)
	}
}

package withdrawal_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// reached checks that a withdrawal and its quote are refused because of a period's limit, and that nothing is held.
func (d *harness) reached(what string, units uint64, words string) {
	d.Helper()
	before := d.available(ann)
	_, err := d.ask(units, d.node.Named("a"))
	d.refused(what, err, bursar.CodeLimitReached, words)
	_, err = d.orders.Quote(ctx, d.order(units, d.node.Named("a")))
	d.refused(what+", its quote", err, bursar.CodeLimitReached, words)
	if now := d.available(ann); now != before {
		d.Errorf("%s: %s is available, want %s as before", what, now, before)
	}
}

// Each kind of period slides: what was requested counts until the period is over, to the microsecond.
func TestALimitOfAPeriodSlides(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newHarnessOver(t, db)
		ten, huge := uint64(10_000), uint64(1)<<62
		for _, c := range []struct {
			kind  bursar.LimitKind
			words string
		}{{bursar.LimitHourly, "within an hour"}, {bursar.LimitDaily, "within 24 hours"},
			{bursar.LimitWeekly, "within seven days"}} {
			d.clock.Advance(8 * 24 * time.Hour)
			d.Must(d.limit(ann, c.kind, &ten, false))
			d.accept(6_000, d.node.Named("a"))
			d.clock.Advance(c.kind.Window() / 2)
			d.accept(4_000, d.node.Named("a"))
			d.reached("nothing is left", 500, c.words+" may come to 0.00010000, and 0.00000000 of that is left")
			d.above("more than can ever be", 10_001, "0.00010000")
			d.clock.Advance(c.kind.Window()/2 - time.Microsecond)
			d.reached("a moment before the first one is out of it", 500, "0.00000000 of that is left")
			d.clock.Advance(time.Microsecond)
			d.reached("what the first one leaves", 6_001, "0.00006000 of that is left")
			d.accept(6_000, d.node.Named("a"))
			d.Must(d.limit(ann, c.kind, &huge, true))
			d.accept(20_000, d.node.Named("a"))
			d.Must(d.limit(ann, c.kind, nil, true))
		}
	})
}

// What waits for an approval and what is paid within the service counts; what is given back does not.
func TestWhatALimitOfAPeriodCounts(t *testing.T) {
	d := newHarness(t)
	d.wallet(bob, "COIN", "bob", 0)
	d.accept(3_000, d.node.Named("a")) // before the limit was set
	ten, two, seven := uint64(10_000), uint64(2_000), uint64(7_000)
	d.Must(d.limit(ann, bursar.LimitDaily, &ten, false))
	d.Must(d.limit(ann, bursar.LimitApproval, &two, false))
	waiting := d.accept(4_000, d.node.Named("a"))
	d.accept(1_000, d.node.Named("bob"))
	d.reached("all of them", 2_001, "0.00002000 of that is left")
	_, err := d.orders.Reject(ctx, waiting.ID, "no")
	d.Must(err)
	d.reached("without what was rejected", 6_001, "0.00006000 of that is left")
	queued := d.accept(2_000, d.node.Named("a"))
	_, err = d.orders.Cancel(ctx, queued.ID)
	d.Must(err)
	d.accept(6_000, d.node.Named("a"))
	d.reached("the limit", 500, "0.00000000 of that is left")

	d.Credit(bob, "COIN", 1_000_000)
	theirs := withdrawal.Request{Account: bob, Currency: "COIN", Amount: "0.0001", Address: d.node.Named("a")}
	_, err = d.orders.Request(ctx, theirs)
	d.Must(err)
	d.Must(d.limit(bursar.ID{}, bursar.LimitDaily, &seven, false)) // for each account by itself, and at once
	_, err = d.orders.Request(ctx, theirs)
	d.refused("of another account", err, bursar.CodeAboveMaximum, "0.00007000")
	d.refused("zero", d.limit(ann, bursar.LimitHourly, new(uint64), true), bursar.CodeInvalidAmount, "of zero")
}

// The lowest limit binds, of an account and of all, and of every period.
func TestTheLowestLimitOfAPeriodBinds(t *testing.T) {
	d := newHarness(t)
	five, seven, nine := uint64(5_000), uint64(7_000), uint64(9_000)
	d.Must(d.limit(bursar.ID{}, bursar.LimitHourly, &five, false))
	d.Must(d.limit(ann, bursar.LimitHourly, &seven, true)) // a first own one above that of all is proposed
	d.Must(d.limit(ann, bursar.LimitDaily, &nine, false))
	d.accept(4_000, d.node.Named("a"))
	d.reached("above that of all", 1_001, "within an hour may come to 0.00005000")
	d.clock.Advance(time.Hour)
	d.accept(4_000, d.node.Named("a"))
	d.clock.Advance(time.Hour)
	d.reached("above that of a day", 1_001, "within 24 hours may come to 0.00009000, and 0.00001000")
	d.accept(1_000, d.node.Named("a"))
}

// Requests that come at once, to several replicas, do not pass the limit together, and none is refused that fits.
func TestRequestsAtOnceDoNotPassALimitTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newHarnessOver(t, db)
		limit := uint64(10_500)
		d.Must(d.limit(ann, bursar.LimitHourly, &limit, false))
		d.config.Queued, d.config.EventRecorded = nil, nil
		var all sync.WaitGroup
		errs := make(chan error, 24)
		for range 4 {
			replica := withdrawal.NewService(d.config)
			for range 6 {
				all.Go(func() {
					_, err := replica.Request(ctx, d.order(1_000, d.node.Named("a")))
					errs <- err
				})
			}
		}
		all.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				d.refused("one too many", err, bursar.CodeLimitReached, "0.00000500 of that is left")
			}
		}
		if n := d.count(); n != 10 {
			t.Errorf("%d withdrawals of 1000 are recorded below a limit of 10500, want 10", n)
		}
	})
}

// In one batch a request that is refused for another reason takes nothing of the limit, and one that fits is not
// refused for it.
func TestALimitWithinABatch(t *testing.T) {
	d := newHarness(t)
	d.currency(func(c *bursar.Currency) { c.ApprovalAbove, c.WithdrawalFee = bursar.Amount{}, bursar.Fee{} })
	limit := uint64(2_000_000_000)
	d.Must(d.limit(ann, bursar.LimitWeekly, &limit, false))
	results, err := d.orders.Together(ctx, []withdrawal.Request{
		d.order(900_000_000, d.node.Named("a")),
		d.order(1_000_000_000, d.node.Named("a")), // more than is left of the balance
		d.order(100_000_000, d.node.Named("a")),
	})
	d.Must(err)
	d.Credit(ann, "COIN", 5_000_000_000)
	more, err := d.orders.Together(ctx, []withdrawal.Request{
		d.order(600_000_000, d.node.Named("a")),
		d.order(400_000_001, d.node.Named("a")), // more than is left of the limit
		d.order(400_000_000, d.node.Named("a")),
		d.order(500, d.node.Named("a")),
	})
	d.Must(err)
	want := []bursar.ErrorCode{"", bursar.CodeInsufficientBalance, "", "", bursar.CodeLimitReached, "",
		bursar.CodeLimitReached}
	for i, r := range append(results, more...) {
		var refused *bursar.Error
		if got := bursar.ErrorCode(""); errors.As(r.Err, &refused) || r.Err == nil {
			if refused != nil {
				got = refused.Code
			}
			if got != want[i] {
				t.Errorf("request %d gives %v, want %q", i, r.Err, want[i])
			}
			continue
		}
		t.Errorf("request %d gives %v, want %q", i, r.Err, want[i])
	}
}

// A request whose commit was not answered is not counted twice, where it takes all that is left of a limit.
func TestALimitAndACommitThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newHarnessOver(t, db)
		limit := uint64(1_000)
		d.Must(d.limit(ann, bursar.LimitDaily, &limit, false))
		ordered, lost := false, false
		d.points = func(at store.Point, what string) error {
			ordered = ordered || at == store.Running && strings.HasPrefix(what, "INSERT INTO withdrawals")
			if at != store.Committed || !ordered || lost {
				return nil
			}
			lost = true
			return errors.New("the connection broke")
		}
		w, err := d.ask(1_000, d.node.Named("a"))
		d.points = nil
		if err != nil || !lost {
			t.Fatalf("the request gives %v (its answer was lost: %t), want the withdrawal", err, lost)
		}
		if is := d.current(w); is.Status != bursar.WithdrawalQueued || d.count() != 1 {
			t.Errorf("%d withdrawals are recorded, this one %s; want one that is queued", d.count(), is.Status)
		}
		d.reached("once more", 500, "0.00000000 of that is left")
	})
}

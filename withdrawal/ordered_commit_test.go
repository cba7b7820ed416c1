package withdrawal_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// If a connection breaks at the commit of a withdrawal request, it is unknown whether the withdrawal exists. It is
// requested again and taken once: the client gets the existing withdrawal, and no error.
func TestAWithdrawalWhoseCommitIsNotAnsweredIsTakenOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		armed, ordered := atomic.Bool{}, atomic.Bool{}
		broken := errors.New("the connection broke")
		r := bursartest.NewOneChain(t, db.As(db.Now,
			store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
				if at == store.Running && strings.HasPrefix(what, "INSERT INTO withdrawals") && armed.Swap(false) {
					ordered.Store(true)
				}
				if at == store.Committed && ordered.Swap(false) {
					return broken
				}
				return nil
			}}), bursartest.UTXOModel)
		before, to := r.Prepare(), r.Chain.Named("outside")
		armed.Store(true)
		w, err := r.Withdraw(0, 300_000_000, to)
		if err != nil {
			t.Fatal(err)
		}
		if armed.Load() || ordered.Load() {
			t.Fatal("no commit was lost")
		}
		list := 0
		r.View(func(tx *store.Tx) error {
			all, err := tx.Withdrawals().List(ctx, r.Accounts[0], store.Page{Limit: 10})
			list = len(all)
			return err
		})
		if list != 1 {
			t.Fatalf("%d withdrawals exist, want 1", list)
		}
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// What became true between a commit whose answer was lost and the look for it refuses nothing: the money is held, and
// would be paid although the client was notified that nothing has changed.
func TestAWithdrawalThatIsRecordedIsNotRefusedAfterwards(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { recordedAndFrozen(t, newHarnessOver(t, db)) })
}

// loseCommit loses the answer to the next commit of a withdrawal, after which something else happens at once.
func (d *harness) loseCommit(then func()) {
	ordered := false
	d.points = func(at store.Point, what string) error {
		ordered = ordered || at == store.Running && strings.HasPrefix(what, "INSERT INTO withdrawals")
		if at != store.Committed || !ordered {
			return nil
		}
		d.points = nil
		then()
		return errors.New("the connection broke")
	}
}

func recordedAndFrozen(t *testing.T, d *harness) {
	t.Helper()
	d.loseCommit(func() {
		d.Do(func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(ann), Kind: store.HaltByOperator, Reason: "stolen"})
		})
	})
	w, err := d.ask(1000, d.node.Named("outside"))
	if err != nil || d.points != nil {
		t.Fatalf("the request gives %v, want the withdrawal that is recorded", err)
	}
	if is := d.current(w); is.Status != bursar.WithdrawalQueued || d.count() != 1 {
		t.Errorf("%d withdrawals are recorded, this one %s; want one that is queued", d.count(), is.Status)
	}
	_, err = d.ask(1000, d.node.Named("outside"))
	d.refused("a request afterwards", err, bursar.CodeWithdrawalsFrozen, "frozen")
}

// What an account pays another one at once has no hold, so that its entry does not exclude a later one. Where the limit
// above which withdrawals wait changes between a commit whose answer was lost and the look for it, the withdrawal stays
// what it became, and is not taken for a new one.
func TestAPaymentWithinTheServiceThatIsRecordedStaysWhatItBecame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after uint64 // the limit, for a withdrawal of 1000
		want          bursar.WithdrawalStatus
	}{
		"it was paid, and would wait": {2000, 500, bursar.WithdrawalConfirmed},
		"it waits, and would be paid": {500, 2000, bursar.WithdrawalPendingApproval},
		"it was paid, and would be":   {2000, 1500, bursar.WithdrawalConfirmed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				d := newHarnessOver(t, db)
				d.Must(d.limit(bursar.ID{}, bursar.LimitApproval, &c.before, true))
				d.loseCommit(func() { d.Must(d.limit(bursar.ID{}, bursar.LimitApproval, &c.after, true)) })
				to := d.wallet(bob, "COIN", "bob's", 0)
				w, err := d.ask(1000, to.Address.Base)
				if err != nil || d.points != nil {
					t.Fatalf("the request gives %v, want the withdrawal that is recorded", err)
				}
				if is := d.current(w); is.Status != c.want || w.Status != c.want || d.count() != 1 {
					t.Errorf("%d withdrawals are recorded, this one %s, answered as %s; want one that is %s", d.count(), is.Status,
						w.Status, c.want)
				}
				paid := c.want == bursar.WithdrawalConfirmed
				if got := len(d.deposits(to)); got != map[bool]int{true: 1}[paid] {
					t.Errorf("the receiver has %d deposits", got)
				}
				if left := d.available(ann); left != bursar.Units(1_000_000_000-1000).SubOrZero(w.Fee) {
					t.Errorf("the payer has %s left of 1000000000, the fee is %s", left, w.Fee)
				}
			})
		})
	}
}

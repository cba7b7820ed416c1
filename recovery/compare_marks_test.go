package recovery_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// An address that was given out after the backup is given to nobody else after the restore, and a payment to it is
// found: an operator assigns it, and it can be spent.
func TestNoAddressIsGivenOutTwice(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		before := r.Backup()
		given := map[string]bool{}
		var lost bursar.Wallet
		for range 20 {
			lost = r.Wallet(0)
			given[lost.Address.Base] = true
		}
		r.Restore(before)
		r.Guarded(file)
		for range 20 {
			if w := r.Wallet(1); given[w.Address.Base] {
				t.Fatalf("%s was given out twice", w.Address.Base)
			}
		}
		r.Pay(lost.Address, 70_000_000)
		r.Recovered()
		r.Settle()
		var found []bursar.Deposit
		r.View(func(tx *store.Tx) (err error) {
			found, err = tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 10})
			return err
		})
		if len(found) != 1 || found[0].Address != lost.Address || found[0].Amount != bursar.Units(70_000_000) ||
			found[0].Status != bursar.DepositConfirmed {
			t.Fatalf("unattributed is %+v, want 1 of them and %v and %v and %v", found, lost.Address, bursar.Units(70_000_000),
				bursar.DepositConfirmed)
		}
		w := r.Order(100_000_000, r.Chain.Named("receiver"))
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if r.Chain.Capabilities().Model == chain.AccountModel &&
			!r.Chain.Balance(lost.Address.Base, "").Less(bursar.Units(70_000_000)) {
			t.Error("what arrived at the forgotten address is not swept")
		}
	})
}

// If a database steps back under a running process, as after an asynchronous failover, nothing is signed again: the
// journal knows that the payment was signed, and the guard's next check begins a recovery of the chain.
func TestAStepBackUnderARunningProcessSignsNothing(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		g := r.Guarded(filepath.Join(t.TempDir(), "seed.marks"))
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step() // signed and sent
		if len(r.Chain.Waiting()) == 0 {
			t.Fatal("nothing was sent")
		}
		r.Restore(before)
		g.DB = r.DB // the same process goes on without noticing
		id := r.Chain.Capabilities().ID
		r.Sender.Marks, r.Wallets.Marks = g, g
		r.Follower.Current = func() bool { return g.HoldsLease(id) }
		r.Trouble = true
		for range 3 {
			r.Step()
			if n := len(r.Chain.Waiting()); n > 1 {
				t.Fatalf("%d transactions wait, want at most 1", n)
			}
		}
		r.Trouble = false
		if err := g.Compare(t.Context()); err != nil { // the journal holds the payment back until the next check
			t.Fatal(err)
		}
		if n := recoveries(r); n != 1 {
			t.Fatalf("the chain has recovered %d times, want 1", n)
		}
		r.Settle()
		r.Recovered()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
		}
	})
}

// recoveries counts the recoveries that have started.
func recoveries(r *bursartest.OneChain) (n int) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.Recoveries().List(ctx, 100)
		n = len(list)
		return err
	})
	return n
}

// A database that was used with marks is not used without them.
func TestMissingMarksAreAnError(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		folder := t.TempDir()
		g := r.Guarded(filepath.Join(folder, "seed.marks"))
		r.Wallet(0)
		g.Keeper = marks.NewFile(filepath.Join(folder, "other.marks"))
		if err := g.Start(ctx); !errors.Is(err, marks.ErrMissing) {
			t.Fatalf("starting without the marks gives %v, want %v", err, marks.ErrMissing)
		}
		r.Must(g.Begin(ctx, "moved to another machine", 500))
		r.Must(g.Start(ctx))
		if !r.Recovering() {
			t.Error("the chain does not recover")
		}
		if w := r.Wallet(0); w.Index < 500 {
			t.Errorf("the next index is %d, want at least 500", w.Index)
		}
	})
}

// Replicas on several machines have marks of their own, and give out every index only once.
func TestReplicasWithMarksOfTheirOwn(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		folder := t.TempDir()
		one := r.Guarded(filepath.Join(folder, "one"))
		two := r.Guard(filepath.Join(folder, "two"))
		r.Must(two.Join(ctx))
		r.Must(two.Start(ctx))
		seen := map[uint32]bool{}
		for i := range 600 {
			if r.Wallets.Marks = one; i%7 < 3 {
				r.Wallets.Marks = two
			}
			w := r.Wallet(0)
			if seen[w.Index] {
				t.Fatalf("wallet %d has index %d, which was given out", i, w.Index)
			}
			seen[w.Index] = true
		}
		for _, g := range []*recovery.Guard{one, two} {
			r.Must(g.Compare(ctx))
		}
		if r.Recovering() {
			t.Error("the chain recovers for nothing")
		}
	})
}

// A key index that is given out while the database is compared with the marks does not count as a step back.
func TestAnIndexGivenOutDuringACheckIsNoStepBack(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		g := r.Guard(filepath.Join(t.TempDir(), "seed.marks"))
		looking := false
		g.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
			if looking && at == store.Ended {
				looking = false
				r.Wallet(0)
			}
			return nil
		}})
		r.Must(g.Start(ctx))
		r.TakeLease(g)
		r.Prepare()
		looking = true
		r.Must(g.Compare(ctx))
		if looking || r.Recovering() {
			t.Errorf("the look has not met a wallet (%v), or the chain recovers (%v)", looking, r.Recovering())
		}
	})
}

package outgoing_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// guarded gives a harness marks in a file, as a service has them beside its seed, and runs the guard.
func (r *harness) guarded(file string) *recovery.Guard {
	r.t.Helper()
	g := r.guard(file)
	r.must(g.Start(ctx))
	r.takeLease(g)
	return g
}

func (r *harness) guard(file string) *recovery.Guard {
	capabilities := r.chain.Capabilities()
	return &recovery.Guard{DB: r.db, Keeper: marks.NewFile(file), Chains: []bursar.ChainID{capabilities.ID},
		Families: []bursar.Family{capabilities.Family},
		Log:      slog.New(slog.DiscardHandler), Name: func() string { return r.ids.Next().String() }, Derive: r.gaps}
}

func (r *harness) takeLease(g *recovery.Guard) {
	r.t.Helper()
	id := r.chain.Capabilities().ID
	_, err := g.BeginLease(ctx, id)
	r.must(err)
	r.sender.Marks, r.wallets.Marks = g, g
	r.follower.Current, r.follower.KnownFinal = func() bool {
		return g.HoldsLease(id)
	}, func() uint64 { return g.KnownFinal(id) }
}

func (r *harness) gaps(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
	list := make([]store.GapAddress, n)
	for i := range list {
		pub, err := r.keys.Public(chain.KeyRef{Family: family, Index: from + uint32(i)})
		if err != nil {
			return nil, err
		}
		address, err := r.chain.Address(pub, 0)
		if err != nil {
			return nil, err
		}
		list[i] = store.GapAddress{Index: from + uint32(i), Base: address.Base}
	}
	return list, nil
}

// An address that was given out after the backup is given to nobody else after the restore, and a payment to it is
// found: an operator assigns it, and it can be spent.
func TestNoAddressIsGivenOutTwice(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		before := r.backup()
		given := map[string]bool{}
		var lost bursar.Wallet
		for range 20 {
			lost = r.wallet(0)
			given[lost.Address.Base] = true
		}
		r.restore(before)
		r.guarded(file)
		for range 20 {
			if w := r.wallet(1); given[w.Address.Base] {
				t.Fatalf("%s was given out twice", w.Address.Base)
			}
		}
		r.pay(lost.Address, 70_000_000)
		r.recovered()
		r.settle()
		var found []bursar.Deposit
		r.view(func(tx *store.Tx) (err error) {
			found, err = tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 10})
			return err
		})
		if len(found) != 1 || found[0].Address != lost.Address || found[0].Amount != bursar.Units(70_000_000) ||
			found[0].Status != bursar.DepositConfirmed {
			t.Fatalf("unattributed is %+v", found)
		}
		w := r.order(100_000_000, r.chain.Named("receiver"))
		r.settle()
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s", got)
		}
		if r.chain.Capabilities().Model == chain.AccountModel &&
			!r.chain.Balance(lost.Address.Base, "").Less(bursar.Units(70_000_000)) {
			t.Error("what arrived at the forgotten address is not swept")
		}
	})
}

// If a database steps back under a running process, as after an asynchronous failover, nothing is signed again: the
// journal knows that the payment was signed, and the guard's next check begins a recovery of the chain.
func TestAStepBackUnderARunningProcessSignsNothing(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		g := r.guarded(filepath.Join(t.TempDir(), "seed.marks"))
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.step() // signed and sent
		if len(r.chain.Waiting()) == 0 {
			t.Fatal("nothing was sent")
		}
		r.restore(before)
		g.DB = r.db // the same process goes on without noticing
		id := r.chain.Capabilities().ID
		r.sender.Marks, r.wallets.Marks = g, g
		r.follower.Current = func() bool { return g.HoldsLease(id) }
		r.trouble = true
		for range 3 {
			r.step()
			if n := len(r.chain.Waiting()); n > 1 {
				t.Fatalf("%d transactions wait", n)
			}
		}
		r.trouble = false
		if err := g.Compare(t.Context()); err != nil { // the journal holds the payment back until the next check
			t.Fatal(err)
		}
		if n := r.recoveries(); n != 1 {
			t.Fatalf("the chain has recovered %d times", n)
		}
		r.settle()
		r.recovered()
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if now := r.now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", now.Status)
		}
	})
}

// recoveries counts the recoveries that have begun.
func (r *harness) recoveries() (n int) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		list, err := tx.Recoveries().List(ctx, 100)
		n = len(list)
		return err
	})
	return n
}

// A database that was used with marks is not used without them.
func TestMissingMarksAreAnError(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		folder := t.TempDir()
		g := r.guarded(filepath.Join(folder, "seed.marks"))
		r.wallet(0)
		g.Keeper = marks.NewFile(filepath.Join(folder, "other.marks"))
		if err := g.Start(ctx); !errors.Is(err, marks.ErrMissing) {
			t.Fatalf("starting without the marks gives %v", err)
		}
		r.must(g.Begin(ctx, "moved to another machine", 500))
		r.must(g.Start(ctx))
		if !r.recovering() {
			t.Error("the chain does not recover")
		}
		if w := r.wallet(0); w.Index < 500 {
			t.Errorf("the next index is %d", w.Index)
		}
	})
}

// Replicas on several machines have marks of their own, and give out every index only once.
func TestReplicasWithMarksOfTheirOwn(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		folder := t.TempDir()
		one := r.guarded(filepath.Join(folder, "one"))
		two := r.guard(filepath.Join(folder, "two"))
		r.must(two.Join(ctx))
		r.must(two.Start(ctx))
		seen := map[uint32]bool{}
		for i := range 600 {
			if r.wallets.Marks = one; i%7 < 3 {
				r.wallets.Marks = two
			}
			w := r.wallet(0)
			if seen[w.Index] {
				t.Fatalf("wallet %d has index %d, which was given out", i, w.Index)
			}
			seen[w.Index] = true
		}
		for _, g := range []*recovery.Guard{one, two} {
			r.must(g.Compare(ctx))
		}
		if r.recovering() {
			t.Error("the chain recovers for nothing")
		}
	})
}

// A key index that is given out while the database is compared with the marks does not count as a step back.
func TestAnIndexGivenOutDuringACheckIsNoStepBack(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		g := r.guard(filepath.Join(t.TempDir(), "seed.marks"))
		looking := false
		g.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, _ string) error {
			if looking && at == store.Ended {
				looking = false
				r.wallet(0)
			}
			return nil
		}})
		r.must(g.Start(ctx))
		r.takeLease(g)
		r.prepare()
		looking = true
		r.must(g.Compare(ctx))
		if looking || r.recovering() {
			t.Errorf("the look has not met a wallet (%v), or the chain recovers (%v)", looking, r.recovering())
		}
	})
}

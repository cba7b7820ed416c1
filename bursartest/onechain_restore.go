package bursartest

import (
	"cmp"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Backup copies the database and returns the copy's URL.
func (r *OneChain) Backup() string {
	r.T.Helper()
	return storetest.Copy(r.T, cmp.Or(r.opened, r.DB))
}

// Restore puts a copy of the database in its place, with its clock, and has another process take over.
func (r *OneChain) Restore(url string) {
	r.T.Helper()
	r.opened = storetest.Open(r.T, url)
	r.DB = r.opened.As(r.DB.Now, store.Hooks{})
	r.Do(func(tx *store.Tx) (err error) {
		r.Lease, _, err = tx.Leases().Acquire(ctx, r.Lease.Chain, r.Lease.Holder, 1) // as the backup has it
		return err
	})
	r.IDs = bursar.NewIDs(r.DB.Now, nil)
	r.Restart()
}

// Recovering reports whether the chain is recovering.
func (r *OneChain) Recovering() (is bool) {
	r.View(func(tx *store.Tx) (err error) {
		is, err = tx.Recoveries().IsOpen(ctx, r.Chain.Capabilities().ID)
		return err
	})
	return is
}

// Recovered lets blocks pass until the recovery has ended.
func (r *OneChain) Recovered() {
	r.T.Helper()
	for range 50 {
		if !r.Recovering() {
			return
		}
		r.Chain.Mine(1)
		r.Step()
	}
	r.T.Fatal("the chain is still recovering")
}

// Unclear returns the external spends that an operator has to evaluate.
func (r *OneChain) Unclear() (list []store.ExternalSpend) {
	r.View(func(tx *store.Tx) (err error) {
		list, err = tx.ExternalSpends().List(ctx, r.Chain.Capabilities().ID, store.ExternalUnclear, 100)
		return err
	})
	return list
}

// Forget has a withdrawal requested and paid, and restores a backup from before the request.
func (r *OneChain) Forget(to string) {
	r.Prepare()
	r.Settle()
	before := r.Backup()
	r.Order(300_000_000, to)
	r.Settle()
	r.Restore(before)
	for range 6 {
		r.Step()
		r.Chain.Mine(1)
	}
}

// Resolve answers about an external spend, as an operator does.
func (r *OneChain) Resolve(a recovery.Answer) error {
	assessor := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
	return r.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Chains().Lock(ctx, r.Chain.Capabilities().ID); err != nil {
			return err
		}
		return assessor.Resolve(ctx, tx, a)
	})
}

// long is a wait that no test reaches: a recovery that does not need it ends before.
var LongWait = chain.Lifetime{Blocks: 1000}

// Revive makes a process take over the restored database with the marks of a file.
func (r *OneChain) Revive(before, file string) *recovery.Guard {
	r.T.Helper()
	r.Restore(before)
	g := r.Guarded(file)
	r.Follower.Wait = LongWait
	return g
}

// Guarded gives a harness marks in a file, as a service has them beside its seed, and runs the guard.
func (r *OneChain) Guarded(file string) *recovery.Guard {
	r.T.Helper()
	g := r.Guard(file)
	r.Must(g.Start(ctx))
	r.TakeLease(g)
	return g
}

// Guard returns the guard of a process whose marks are in a file.
func (r *OneChain) Guard(file string) *recovery.Guard {
	capabilities := r.Chain.Capabilities()
	return &recovery.Guard{DB: r.DB, Keeper: marks.NewFile(file), Chains: []bursar.ChainID{capabilities.ID},
		Families: []bursar.Family{capabilities.Family},
		Log:      slog.New(slog.DiscardHandler), Name: func() string { return r.IDs.Next().String() }, Derive: r.Gaps}
}

// TakeLease has the workers use a guard, as a process does that took the chain's lease.
func (r *OneChain) TakeLease(g *recovery.Guard) {
	r.T.Helper()
	id := r.Chain.Capabilities().ID
	_, err := g.BeginLease(ctx, id)
	r.Must(err)
	r.Sender.Marks, r.Wallets.Marks = g, g
	r.Follower.Current, r.Follower.KnownFinal = func() bool {
		return g.HoldsLease(id)
	}, func() uint64 { return g.KnownFinal(id) }
}

// Gaps derives the addresses of a range of indexes, as a guard asks for them.
func (r *OneChain) Gaps(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
	list := make([]store.GapAddress, n)
	for i := range list {
		pub, err := r.Keys.Public(chain.KeyRef{Family: family, Index: from + uint32(i)})
		if err != nil {
			return nil, err
		}
		address, err := r.Chain.Address(pub, 0)
		if err != nil {
			return nil, err
		}
		list[i] = store.GapAddress{Index: from + uint32(i), Base: address.Base}
	}
	return list, nil
}

// SettleExternal is `bursar chain resume` by an operator who bears the loss of external spends.
func (r *OneChain) SettleExternal() (taken []store.ExternalSpend, err error) {
	assessor := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
	id := r.Chain.Capabilities().ID
	return taken, r.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().Lock(ctx, id)
		if err != nil {
			return err
		}
		if taken, err = assessor.TakeAll(ctx, tx, state.Final,
			recovery.Answer{Rest: store.UsedUpAsLoss, Actor: "ann"}); err != nil {
			return err
		}
		_, err = tx.Halts().Lift(ctx, store.HaltChain(id), store.HaltByExternalSpend, "")
		return err
	})
}

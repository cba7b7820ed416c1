package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func leases(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	acquire := func(holder string, ttl time.Duration) (l store.Lease, ok bool) {
		do(t, db, func(tx *store.Tx) (err error) {
			l, ok, err = tx.Leases().Acquire(ctx, bursar.Bitcoin, holder, ttl)
			return err
		})
		return l, ok
	}
	lead := func(l store.Lease) error {
		return db.Do(ctx, func(tx *store.Tx) error { _, err := tx.Leases().Fence(ctx, l); return err })
	}
	first, ok := acquire("a", time.Hour)
	if !ok || lead(first) != nil {
		t.Fatal("the first replica does not lead")
	}
	if again, ok := acquire("a", 0); !ok || again.Token != first.Token {
		t.Fatal("renewing changed the leader")
	}
	if _, ok := acquire("a", -time.Second); !ok { // as if its time had passed
		t.Fatal("the leader could not renew")
	}
	second, ok := acquire("b", time.Hour)
	if !ok {
		t.Fatal("an expired lease was not handed over")
	}
	want(t, lead(first), store.ErrLeaseLost)
	if _, ok := acquire("a", time.Hour); ok || lead(second) != nil {
		t.Fatal("two replicas lead")
	}
	do(t, db, func(tx *store.Tx) error { return tx.Leases().Release(ctx, second) })
	if third, ok := acquire("a", time.Hour); !ok || third.Token <= second.Token {
		t.Fatal("a released lease was not handed over with a new token")
	}
}

// leasesOfEpochs shows that a replica of a later epoch takes a lease that is held, and that none of an earlier epoch
// gets it again, no matter who holds it or lets it go.
func leasesOfEpochs(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	acquire := func(e uint32, holder string) (l store.Lease, ok bool) {
		db.InEpoch(e)
		defer db.InEpoch(0)
		do(t, db, func(tx *store.Tx) (err error) {
			l, ok, err = tx.Leases().Acquire(ctx, bursar.Bitcoin, holder, time.Hour)
			return err
		})
		return l, ok
	}
	lead := func(l store.Lease) error {
		return db.Do(ctx, func(tx *store.Tx) error { _, err := tx.Leases().Fence(ctx, l); return err })
	}
	old, ok := acquire(0, "old")
	if !ok {
		t.Fatal("the first replica does not lead")
	}
	next, ok := acquire(1, "next")
	if !ok || next.Token <= old.Token {
		t.Fatalf("a replica of the next epoch gets token %d, %t; want a new one after %d at once", next.Token, ok, old.Token)
	}
	want(t, lead(old), store.ErrLeaseLost)
	if err := lead(next); err != nil {
		t.Errorf("the replica of the next epoch does not lead: %v", err)
	}
	if _, ok := acquire(1, "another"); ok {
		t.Error("another replica of the same epoch took a lease that is held")
	}
	do(t, db, func(tx *store.Tx) error { return tx.Leases().Release(ctx, next) })
	for _, holder := range []string{"old", "next"} {
		if _, ok := acquire(0, holder); ok {
			t.Errorf("%s leads with the keys of an earlier epoch", holder)
		}
	}
	do(t, db, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, bursar.Bitcoin)
		if state.Epoch != 1 {
			t.Errorf("the chain is in epoch %d, want 1", state.Epoch)
		}
		return err
	})
	again, ok := acquire(1, "next")
	if !ok || again.Token <= next.Token {
		t.Errorf("the epoch's own replica gets token %d, %t; want a new one after %d", again.Token, ok, next.Token)
	}
	actsOnEpochs(t, db, old, next, again)
	second, _ := acquire(2, "third")
	actsOnEpochs(t, db, again, next, second)
}

// actsOnEpochs shows that a service which leads the chain in an epoch acts on that once, and nobody who lost the lease
// does.
func actsOnEpochs(t *testing.T, db *store.DB, lost, alsoLost, leads store.Lease) {
	act := func(l store.Lease) (first bool, err error) {
		err = db.Do(ctx, func(tx *store.Tx) (err error) { _, first, err = tx.Leases().ActOnEpoch(ctx, l); return err })
		return first, err
	}
	for _, l := range []store.Lease{lost, alsoLost} {
		if _, err := act(l); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("under a lease that is lost: got %v, want %v", err, store.ErrLeaseLost)
		}
	}
	do(t, db, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, leads.Chain)
		if !state.EpochSince.IsZero() {
			t.Errorf("before anybody acts on epoch %d it is followed since %s, want no time", state.Epoch, state.EpochSince)
		}
		return err
	})
	for _, want := range []bool{true, false, false} {
		if first, err := act(leads); err != nil || first != want {
			t.Errorf("the first to act on the epoch: got %t, %v; want %t", first, err, want)
		}
	}
	do(t, db, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, leads.Chain)
		if state.EpochSince.IsZero() {
			t.Error("since when the epoch is followed: got no time, want one")
		}
		return err
	})
}

// actsOnce shows that many at once append one act of an epoch, even where a restarted process has the lease of the one
// before under the same name; and that a transaction which is undone has not acted.
func actsOnce(t *testing.T, db *store.DB) {
	db.InEpoch(1)
	defer db.InEpoch(0)
	var lease store.Lease
	do(t, db, func(tx *store.Tx) error {
		err := tx.Chains().Ensure(ctx, bursar.Bitcoin)
		if err == nil {
			lease, _, err = tx.Leases().Acquire(ctx, bursar.Bitcoin, "one", time.Hour)
		}
		return err
	})
	act := func(tx *store.Tx) error {
		_, first, err := tx.Leases().ActOnEpoch(ctx, lease)
		if err != nil || !first {
			return err
		}
		return tx.Acts().Append(ctx, store.Act{Actor: "the service", Verb: "epoch.follow", Object: "chain bitcoin"})
	}
	undone := errors.New("undone")
	want(t, db.Do(ctx, func(tx *store.Tx) error { return errors.Join(act(tx), undone) }), undone)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				if err := db.Do(ctx, act); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	do(t, db, func(tx *store.Tx) error {
		acts, err := tx.Acts().After(ctx, 0, 100)
		if len(acts) != 1 {
			t.Errorf("the log has %d acts, want 1", len(acts))
		}
		return err
	})
}

func cursor(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Bitcoin); err != nil {
			return err
		}
		s, err := tx.Chains().Lock(ctx, bursar.Bitcoin)
		if s.Height != -1 {
			t.Errorf("a new chain is at %d", s.Height)
		}
		return err
	})
	hashes := []string{"0", "1", "2", "3"}
	for h := uint64(1); h < 4; h++ {
		do(t, db, func(tx *store.Tx) error {
			return tx.Blocks().Push(ctx, bursar.Bitcoin, store.Block{Height: h, Hash: hashes[h], Parent: hashes[h-1],
				Time: time.Unix(int64(h), 0)}, 2)
		})
	}
	do(t, db, func(tx *store.Tx) error {
		s, err := tx.Chains().State(ctx, bursar.Bitcoin)
		if !s.Time.Equal(time.Unix(3, 0)) {
			t.Errorf("after block 3: got the time %s, want that of the block", s.Time)
		}
		return err
	})
	do(t, db, func(tx *store.Tx) error {
		return tx.Blocks().RollBack(ctx, bursar.Bitcoin, store.Block{Height: 3, Hash: "3", Parent: "2"})
	})
	do(t, db, func(tx *store.Tx) error {
		s, err := tx.Chains().State(ctx, bursar.Bitcoin)
		if s.Height != 2 || s.Hash != "2" || !s.Time.IsZero() {
			t.Errorf("after the pop: got %d %s of %s, want 2 2 of no time that is known", s.Height, s.Hash, s.Time)
		}
		_, gone := tx.Blocks().At(ctx, bursar.Bitcoin, 3)
		want(t, gone, store.ErrNotFound)
		b, _ := tx.Blocks().At(ctx, bursar.Bitcoin, 1)
		if b.Parent != "0" {
			t.Errorf("block 1 is %+v", b)
		}
		return err
	})
}

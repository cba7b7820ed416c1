package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A process that took over signs nothing before its follower has recorded up to a final block that was reported after
// that.
func TestNothingIsSignedBeforeTheFollowerHasCaughtUp(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Chain.Mine(3)
		r.Restart()
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Must(r.Sweeper.Step(ctx, r.Lease))
		if n := r.Taken(); n != 0 {
			t.Fatalf("before the follower has caught up %d withdrawals are taken up, want 0", n)
		}
		r.Step()
		if r.Taken() == 0 {
			t.Fatal("nothing is spent although the follower has caught up")
		}
	})
}

// While the followed endpoint is behind the final blocks that another one reports, nothing is signed.
func TestAnEndpointThatLagsMakesNothingReady(t *testing.T) {
	t.Parallel()
	config := bursartest.Models["expiring"]
	config.Endpoints = []chain.Endpoint{{Name: "one", Host: "one"}, {Name: "two", Host: "two"}}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, config)
		r.Prepare()
		r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Chain.Behind("one", 4)
		r.Chain.Mine(4)
		r.Restart()
		r.Step()
		if n := r.Taken(); n != 0 {
			t.Fatalf("with an endpoint that lags %d withdrawals are taken up, want 0", n)
		}
		r.Chain.Behind("one", 0)
		r.Step()
		if r.Taken() == 0 {
			t.Fatal("nothing is spent although the endpoint has caught up")
		}
	})
}

// A recovery that begins again under one lease and after the follower has caught up, because a second replica notices
// the failover some seconds later or because it fails over again, ends like any other.
func TestARecoveryThatBeginsAgainEnds(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.Prepare()
		id := r.Chain.Capabilities().ID
		begin := func() {
			r.Do(func(tx *store.Tx) error { return tx.Recoveries().Begin(ctx, id, "the database failed over") })
		}
		begin()
		r.Chain.Mine(1)
		r.Step() // it has caught up, and waits for what was signed before
		begin()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		for range 60 {
			r.Chain.Mine(1)
			r.Step()
		}
		if r.Recovering() {
			t.Error("it is still recovering")
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("paid is %s, want %s", got, w.Amount)
		}
	})
}

package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// models are the three kinds of chains there are: by UTXOs, by nonces, and by nonces with transactions that expire.
var models = map[string]sim.Config{
	"UTXO":     {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 2},
	"nonce":    {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2},
	"expiring": {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2, Expiry: 5},
}

func onModels(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Parallel()
	for name, config := range models {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, newHarness(t, db, config)) })
		})
	}
}

// taken returns how many outgoing transactions for withdrawals there are.
func (r *harness) taken() (n int) {
	for _, p := range r.open() {
		if p.Kind == string(chain.KindWithdrawal) {
			n++
		}
	}
	return n
}

// A process that took over signs nothing before its follower has recorded up to a final block that was reported after
// that.
func TestNothingIsSignedBeforeTheFollowerHasCaughtUp(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.order(300_000_000, r.chain.Named("receiver"))
		r.chain.Mine(3)
		r.restart()
		r.must(r.sender.Step(ctx, r.lease))
		r.must(r.sweeper.Step(ctx, r.lease))
		if n := r.taken(); n != 0 {
			t.Fatalf("before the follower has caught up %d withdrawals are taken up", n)
		}
		r.step()
		if r.taken() == 0 {
			t.Fatal("nothing is spent although the follower has caught up")
		}
	})
}

// While the followed endpoint is behind what another reports to be final, nothing is signed.
func TestAnEndpointThatLagsMakesNothingReady(t *testing.T) {
	t.Parallel()
	config := models["expiring"]
	config.Endpoints = []chain.Endpoint{{Name: "one", Host: "one"}, {Name: "two", Host: "two"}}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, config)
		r.prepare()
		r.order(300_000_000, r.chain.Named("receiver"))
		r.chain.Behind("one", 4)
		r.chain.Mine(4)
		r.restart()
		r.step()
		if n := r.taken(); n != 0 {
			t.Fatalf("with an endpoint that lags %d withdrawals are taken up", n)
		}
		r.chain.Behind("one", 0)
		r.step()
		if r.taken() == 0 {
			t.Fatal("nothing is spent although the endpoint has caught up")
		}
	})
}

// A recovery that begins again, because a second replica notices the failover some seconds later or because it fails
// over once more, under one lease and after the follower has caught up, ends like any other.
func TestARecoveryThatBeginsAgainEnds(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.prepare()
		id := r.chain.Capabilities().ID
		begin := func() {
			r.do(func(tx *store.Tx) error { return tx.Recoveries().Begin(ctx, id, "the database failed over") })
		}
		begin()
		r.chain.Mine(1)
		r.step() // it has caught up, and waits for what was signed before
		begin()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		for range 60 {
			r.chain.Mine(1)
			r.step()
		}
		if r.recovering() {
			t.Error("it is still recovering")
		}
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("paid is %s", got)
		}
	})
}

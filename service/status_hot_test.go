package service_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A command on a machine with the keys of an earlier epoch names no hot wallet: that one's seed was given up, perhaps
// because somebody else has it, and people pay operator funds to what is named.
func TestAnEarlierEpochNamesNoHotWallet(t *testing.T) {
	t.Parallel()
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 2})
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, storetest.SQLite(t))
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Holder: "a",
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		t.Fatal(err)
	}
	named := func() string {
		t.Helper()
		states, err := s.ChainStatus(ctx)
		if err != nil || len(states) != 1 {
			t.Fatalf("got %d chains, %v", len(states), err)
		}
		return states[0].HotAddress
	}
	if got, want := named(), s.Hot(bursar.Bitcoin).Base; got != want {
		t.Errorf("in the epoch of the keys it names %q, want %q", got, want)
	}
	db.InEpoch(1) // as another replica's
	err = db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Bitcoin); err != nil {
			return err
		}
		_, _, err := tx.Leases().Acquire(ctx, bursar.Bitcoin, "b", time.Hour)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := named(); got != "" {
		t.Errorf("while another leads in a later epoch it names %q, want none", got)
	}
}

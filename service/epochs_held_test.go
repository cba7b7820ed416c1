package service

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What is left of earlier epochs is what waits for a sweep there: what their addresses and hot wallets hold that is
// worth one, nothing of the epoch in force, and no dust, with which a rotation would never be over.
func TestWhatIsLeftOfEarlierEpochs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		registry, err := bursar.NewRegistry(bursar.Standard())
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{chain: sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel})}
		s := &Service{DB: db, Registry: registry, Keys: seedsIn(t, 1), order: []bursar.ChainID{bursar.Ethereum},
			workers: map[bursar.ChainID]*worker{bursar.Ethereum: w}}
		if w.hot, w.old, err = s.hotsOf(w.chain); err != nil {
			t.Fatal(err)
		}
		first := chain.Epoch(1).First()
		put := func(base string, branch uint32, index uint32, amount uint64, due bool) {
			t.Helper()
			h := store.Holding{Base: base, Branch: branch, Index: index, Amount: bursar.Units(amount), Due: due}
			err := db.Do(t.Context(), func(tx *store.Tx) error { return tx.Holdings().Put(t.Context(), bursar.Ethereum, h) })
			if err != nil {
				t.Fatal(err)
			}
		}
		wants := func(when string, hot, addresses uint64, more bool) {
			t.Helper()
			list, err := s.EpochStatuses(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("%s: got %d chains, %v; want 1", when, len(list), err)
			}
			var got OldHeld
			for _, held := range list[0].Held {
				if held.Currency != "ETH" {
					t.Errorf("%s: got %+v, want nothing but ETH", when, held)
				}
				got = held
			}
			if got.Hot != bursar.Units(hot) || got.Addresses != bursar.Units(addresses) || got.More != more {
				t.Errorf("%s: got %s at hot wallets, %s at addresses and more %t; want %d, %d and %t", when, got.Hot,
					got.Addresses, got.More, hot, addresses, more)
			}
		}
		err = db.Do(t.Context(), func(tx *store.Tx) error { return tx.Chains().Ensure(t.Context(), bursar.Ethereum) })
		if err != nil {
			t.Fatal(err)
		}
		old := w.old[0]
		put("new", chain.DepositBranch, first, 1000, true)
		put("dust", chain.DepositBranch, 1, 20, false)
		put(old.Base, old.Key.Branch, old.Key.Index, 21, false)
		wants("with dust", 0, 0, false)
		put(old.Base, old.Key.Branch, old.Key.Index, 500, true)
		put("last", chain.DepositBranch, first-1, 300, true)
		wants("with a hot wallet and an address", 500, 300, false)
		for i := range uint32(mostOld) {
			put("many"+string(rune('a'+i%26))+string(rune('a'+i/26)), chain.DepositBranch, i+2, 400, true)
		}
		wants("with many addresses", 500, 400*(mostOld-1), true)
	})
}

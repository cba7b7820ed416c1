package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A key that is compromised on one chain is compromised on every chain that shares it, also the key of a deposit
// address.
func TestAnExternalSpendHaltsEveryChainThatSharesTheKey(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Follower.Externals.SharedKeys = []bursar.ChainID{bursar.BSC, bursar.Polygon}
		for _, id := range r.Follower.Externals.SharedKeys {
			r.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, id) })
		}
		w := r.Wallet(1)
		r.Pay(w.Address, 300_000_000)
		r.StepAndMine(1)
		id := r.Chain.ExternalSpend(w.Address.Base,
			chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")}, Amount: bursar.Units(120_000_000)})
		r.StepAndMine(2)
		for _, halted := range []bursar.ChainID{bursar.Ethereum, bursar.BSC, bursar.Polygon} {
			r.View(func(tx *store.Tx) error {
				halts, err := tx.Halts().Of(ctx, store.HaltChain(halted))
				if len(halts) != 1 || halts[0].Kind != store.HaltByExternalSpend || !strings.Contains(halts[0].Reason, id) {
					t.Errorf("%s is halted by %+v, want 1 of them and %v and %v in it", halted, halts, store.HaltByExternalSpend, id)
				}
				return err
			})
		}
		r.View(func(tx *store.Tx) error {
			state, err := tx.Chains().State(ctx, bursar.Ethereum)
			if !strings.Contains(state.Halted, "bsc, polygon") {
				t.Errorf("halted because %s, want one with %q", state.Halted, "bsc, polygon")
			}
			other, _ := tx.Chains().State(ctx, bursar.Polygon)
			if !strings.Contains(other.Halted, "polygon shares its keys with ethereum") {
				t.Errorf("polygon is halted because %s, want one with %q",
					other.Halted, "polygon shares its keys with ethereum")
			}
			return err
		})
	})
}

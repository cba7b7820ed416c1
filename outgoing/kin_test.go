package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A key that is in other hands on one chain is in other hands on every chain that shares it, also a deposit address's.
func TestAnExternalSpendHaltsEveryChainThatSharesTheKey(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		r.follower.Externals.Kin = []bursar.ChainID{bursar.BSC, bursar.Polygon}
		for _, id := range r.follower.Externals.Kin {
			r.do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, id) })
		}
		w := r.wallet(1)
		r.pay(w.Address, 300_000_000)
		r.stepAndMine(1)
		id := r.chain.ExternalSpend(w.Address.Base,
			chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")}, Amount: bursar.Units(120_000_000)})
		r.stepAndMine(2)
		for _, halted := range []bursar.ChainID{bursar.Ethereum, bursar.BSC, bursar.Polygon} {
			r.view(func(tx *store.Tx) error {
				halts, err := tx.Halts().Of(ctx, store.HaltChain(halted))
				if len(halts) != 1 || halts[0].Kind != store.HaltByExternalSpend || !strings.Contains(halts[0].Reason, id) {
					t.Errorf("%s is halted by %+v", halted, halts)
				}
				return err
			})
		}
		r.view(func(tx *store.Tx) error {
			state, err := tx.Chains().State(ctx, bursar.Ethereum)
			if !strings.Contains(state.Halted, "bsc, polygon") {
				t.Errorf("halted because %s", state.Halted)
			}
			other, _ := tx.Chains().State(ctx, bursar.Polygon)
			if !strings.Contains(other.Halted, "polygon shares its keys with ethereum") {
				t.Errorf("polygon is halted because %s", other.Halted)
			}
			return err
		})
	})
}

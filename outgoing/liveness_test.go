package outgoing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Whatever else a chain is busy with – tokens that the hot wallet lacks, receivers that refuse, sweeps without gas, gas
// that is too dear for a while – every withdrawal that its money and the network allow leaves within 40 blocks.
func TestEveryPayableWithdrawalLeaves(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			config := numbered
			config.Seed = seed
			r := newHarness(t, storetest.Open(t, storetest.SQLite(t)), config).withTokens()
			random := rand.New(rand.NewPCG(seed, 25))
			r.prepare()
			r.sender.MaxFee, r.sweeper.MaxFee = bursar.Units(5_000_000), bursar.Units(5_000_000)
			r.jam(40 + random.IntN(60))
			for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
				r.give(code, r.walletOf(0, code).Address, 1_000_000)
			}
			r.give("OTHER", bursar.Address{Base: r.hot.Base}, 100_000)
			r.blocksWithoutSweeps(4)
			var payable []bursar.Withdrawal
			r.trouble = true
			for i := range 40 {
				switch to := r.chain.Named(fmt.Sprint("receiver ", i)); random.IntN(5) {
				case 0:
					r.orderOf(0, "TOKEN", 9_000, to) // the hot wallet has none
				case 1:
					r.chain.RequireMemo(to)
					_, _ = r.withdraw(0, 10_000, to) // refused at once, or later
				case 2:
					r.chain.SetRate([]uint64{10, 10_000}[random.IntN(2)])
				case 3:
					payable = append(payable, r.orderOf(0, "OTHER", 500, to))
				default:
					if w, err := r.withdraw(0, 1_000_000, to); err == nil {
						payable = append(payable, w)
					}
				}
				if random.IntN(3) == 0 {
					r.blocksWithoutSweeps(1)
				}
			}
			r.chain.SetRate(10)
			r.blocksWithoutSweeps(40)
			if got := r.statuses(payable...); got[bursar.WithdrawalConfirmed] != len(payable) {
				t.Errorf("of %d payable withdrawals %v", len(payable), got)
				r.logOpen(2)
			}
			r.view(func(tx *store.Tx) error {
				for base, n := range r.topUps() {
					if n > 1 {
						t.Errorf("%d top-ups of %s are open", n, base)
					}
				}
				return nil
			})
		})
	}
}

package outgoing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Whatever else a chain is busy with – tokens that the hot wallet lacks, receivers that refuse, sweeps without gas, gas
// above the limit for a while – every withdrawal that the funds and the network allow is paid within 40 blocks.
func TestEveryPayableWithdrawalIsPaid(t *testing.T) {
	searches(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			config := bursartest.Numbered
			config.Seed = seed
			r := newHarness(t, storetest.Open(t, storetest.Reused(t)), config)
			r.WithTokens()
			random := rand.New(rand.NewPCG(seed, 25))
			r.Prepare()
			r.Sender.MaxFee, r.Sweeper.MaxFee = bursar.Units(5_000_000), bursar.Units(5_000_000)
			r.jam(40 + random.IntN(60))
			for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
				r.Give(code, r.WalletOf(0, code).Address, 1_000_000)
			}
			r.Give("OTHER", bursar.Address{Base: r.Hot.Base}, 100_000)
			r.blocksWithoutSweeps(4)
			var payable []bursar.Withdrawal
			r.Trouble = true
			for i := range 40 {
				switch to := r.Chain.Named(fmt.Sprint("receiver ", i)); random.IntN(5) {
				case 0:
					r.OrderOf(0, "TOKEN", 9_000, to) // the hot wallet has none
				case 1:
					r.Chain.RequireMemo(to)
					_, _ = r.Withdraw(0, 10_000, to) // refused at once, or later
				case 2:
					r.Chain.SetRate([]uint64{10, 10_000}[random.IntN(2)])
				case 3:
					payable = append(payable, r.OrderOf(0, "OTHER", 500, to))
				default:
					if w, err := r.Withdraw(0, 1_000_000, to); err == nil {
						payable = append(payable, w)
					}
				}
				if random.IntN(3) == 0 {
					r.blocksWithoutSweeps(1)
				}
			}
			r.Chain.SetRate(10)
			r.blocksWithoutSweeps(40)
			if got := r.statuses(payable...); got[bursar.WithdrawalConfirmed] != len(payable) {
				t.Errorf("of %d payable withdrawals %v", len(payable), got)
				r.LogOpen(2)
			}
			r.View(func(tx *store.Tx) error {
				for base, n := range r.topUps() {
					if n > 1 {
						t.Errorf("%d top-ups of %s are open, want at most 1", n, base)
					}
				}
				return nil
			})
		})
	}
}

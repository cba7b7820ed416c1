package outgoing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// statuses counts withdrawals by status.
func (r *harness) statuses(list ...bursar.Withdrawal) map[bursar.WithdrawalStatus]int {
	counts := map[bursar.WithdrawalStatus]int{}
	for _, w := range list {
		counts[r.Now(w).Status]++
	}
	return counts
}

// blocks mines n blocks, with a step of every worker but the sweeper in each.
func (r *harness) blocksWithoutSweeps(n int) {
	r.T.Helper()
	for range n {
		r.Chain.Mine(1)
		for more := true; more; {
			var err error
			more, err = r.Follower.Step(ctx, r.Lease)
			r.Check(err)
		}
		r.Check(r.Sender.Step(ctx, r.Lease))
	}
}

// jam opens n sweeps of TOKEN from addresses that hold some and have no gas.
func (r *harness) jam(n int) {
	r.T.Helper()
	token, err := r.Registry.Get("TOKEN")
	r.Must(err)
	var wallets []bursar.Wallet
	for range n {
		w := r.WalletOf(1, "TOKEN")
		wallets = append(wallets, w)
		r.Give("TOKEN", w.Address, 500)
	}
	r.blocksWithoutSweeps(4)
	r.Do(func(tx *store.Tx) error {
		for _, w := range wallets {
			from := chain.Source{Base: w.Address.Base,
				Key: chain.KeyRef{Family: r.Chain.Capabilities().Family, Branch: chain.DepositBranch, Index: w.Index}}
			payment := chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
				Amount: bursar.Units(500)}
			request := chain.TxRequest{ID: r.IDs.Next(), Kind: chain.KindSweep, Payments: []chain.Payment{payment}, From: from,
				MaxFee: r.Sweeper.MaxFee}
			ordered, err := outgoing.InsertSweep(ctx, tx, r.Chain.Capabilities().ID, request, "TOKEN")
			if err != nil || !ordered {
				return fmt.Errorf("a sweep was not requested: %w", err)
			}
		}
		return nil
	})
}

// topUps counts the open top-ups by the address that receives them.
func (r *harness) topUps() map[string]int {
	r.T.Helper()
	counts := map[string]int{}
	r.View(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.Chain.Capabilities().ID, 100_000)
		for _, p := range open {
			request, _ := outgoing.DecodeRequest(p)
			if request.Kind == chain.KindGasTopUp {
				counts[request.Change.Base]++
			}
		}
		return err
	})
	return counts
}

// Hundreds of sweeps that wait for gas, while gas costs more than the limit, do not hold up withdrawals, and request
// one top-up for each address.
func TestOpenSweepsHoldUpNoWithdrawal(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		maxFee := bursar.Units(5_000_000)
		r.Sender.MaxFee, r.Sweeper.MaxFee = maxFee, maxFee
		r.jam(230)
		r.Trouble = true
		r.Chain.SetRate(10_000)
		r.blocksWithoutSweeps(3)
		to := r.Chain.Named("outside")
		w := r.Order(1_000_000, to)
		r.blocksWithoutSweeps(3)
		r.Chain.SetRate(10)
		r.blocksWithoutSweeps(12)
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("behind 230 sweeps the withdrawal is %s, want %v", got, bursar.WithdrawalConfirmed)
			r.LogOpen(5)
		}
		for base, n := range r.topUps() {
			if n > 1 {
				t.Fatalf("%d top-ups of %s are open, want at most 1", n, base)
			}
		}
	})
}

// Withdrawals of a token that the hot wallet lacks hold up no others: the native asset and another token are paid, and
// so are withdrawals of the short token that are covered. The alarm says how much is missing, and closes automatically.
func TestAShortCurrencyHoldsUpNoOther(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
			r.Give(code, r.WalletOf(0, code).Address, 1_000_000)
		}
		r.Give("OTHER", bursar.Address{Base: r.Hot.Base}, 1_000)
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 50)
		r.blocksWithoutSweeps(4)
		var short []bursar.Withdrawal
		for range 25 {
			short = append(short, r.OrderOf(0, "TOKEN", 60, r.Chain.Named("late")))
		}
		small := r.OrderOf(0, "TOKEN", 40, r.Chain.Named("small"))
		native, other := r.Order(1_000_000, r.Chain.Named("coin")), r.OrderOf(0, "OTHER", 600, r.Chain.Named("elsewhere"))
		r.blocksWithoutSweeps(12)
		if got := r.statuses(native, other, small); got[bursar.WithdrawalConfirmed] != 3 {
			t.Errorf("behind a short token the others are %v, want 3", got)
		}
		if got := r.statuses(short...); got[bursar.WithdrawalQueued] != 25 {
			t.Errorf("the short ones are %v, want 25", got)
		}
		r.View(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().OfKind(ctx, "funds_low")
			if len(alarms) != 1 || !strings.Contains(alarms[0].Message, "lacks 14.90 TOKEN for 25 payments") ||
				!strings.Contains(alarms[0].Message, r.Hot.Base) {
				t.Errorf("the alarms are %+v, want 1 of them and %q in it and %v in it", alarms,
					"lacks 14.90 TOKEN for 25 payments", r.Hot.Base) // 25 times 0.60 are 15.00, and 0.10 is there
			}
			return err
		})
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 1490)
		r.blocksWithoutSweeps(20)
		if got := r.statuses(short...); got[bursar.WithdrawalConfirmed] != 25 {
			t.Errorf("with what the alarm asked for they are %v, want 25", got)
		}
		r.View(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().OfKind(ctx, "funds_low")
			if len(alarms) != 0 {
				t.Errorf("it is over, and the alarms are %+v, want none", alarms)
			}
			return err
		})
	})
}

// Of six withdrawals of 90 from a hot wallet of 100 one is paid, five wait for the sweep, and none is signed that would
// fail on the chain.
func TestFundsInProgressAreNotSpentTwice(t *testing.T) {
	for name, code := range map[string]bursar.CurrencyCode{"token": "TOKEN", "native": "COIN"} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				r.WithTokens().Prepare()
				unit := uint64(100)
				if code == "COIN" {
					unit = 20_000_000 // prepare has left 100 of them, with what was swept
				} else {
					r.Give(code, bursar.Address{Base: r.Hot.Base}, 100*unit)
				}
				for range 6 {
					r.Give(code, r.WalletOf(0, code).Address, 100*unit)
				}
				r.blocksWithoutSweeps(4)
				var list []bursar.Withdrawal
				for i := range 6 {
					list = append(list, r.OrderOf(0, code, 90*unit, r.Chain.Named(fmt.Sprint("receiver ", i))))
				}
				r.blocksWithoutSweeps(6)
				if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != 1 || got[bursar.WithdrawalQueued] != 5 {
					t.Errorf("before the sweep they are %v, want 1 and 5", got)
				}
				r.Settle()
				if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != 6 {
					t.Errorf("after the sweep they are %v, want 6", got)
				}
			})
		})
	}
}

// A batch that costs more than the limit is paid in parts; a payment that costs more than the limit alone waits, its
// error says so, and it holds up no others.
func TestABatchAboveTheFeeLimitIsSplit(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		for range 40 {
			r.Pay(r.Wallet(0).Address, 1_000_000)
		}
		r.Chain.Mine(3)
		r.Step()
		// At a rate of 10, a payment with 5 inputs costs 4,120, with 9 less than 7,000, with 16 11,600, and all five
		// together 16,240.
		r.Sender.MaxFee = bursar.Units(10_000)
		var list []bursar.Withdrawal
		for i := range 5 {
			list = append(list, r.Order(4_000_000, r.Chain.Named(fmt.Sprint("receiver ", i))))
		}
		large := r.Order(15_000_000, r.Chain.Named("large"))
		for range 16 {
			r.Blocks(1)
		}
		if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != 5 {
			t.Errorf("the withdrawals are %v, want 5", got)
			r.LogOpen(20)
		}
		if got := r.Now(large).Status; got != bursar.WithdrawalQueued {
			t.Errorf("the large one is %s, want %s", got, bursar.WithdrawalQueued)
		}
		r.WantAlarms("fee_above_limit")
		r.Sender.MaxFee = bursar.Units(1 << 30) // the operator raises max_fee and restarts
		r.Blocks(6)
		if got := r.Now(large).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("with a higher limit the large one is %s, want %v", got, bursar.WithdrawalConfirmed)
			r.LogOpen(20)
		}
	})
}

// Of a batch with a receiver that can never be paid, only that withdrawal fails, and the others are paid together.
func TestARefusedReceiverFailsAlone(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Prepare()
		var list []bursar.Withdrawal
		for i := range 4 {
			list = append(list, r.Order(1_000_000, r.Chain.Named(fmt.Sprint("receiver ", i))))
		}
		r.Chain.RequireMemo(r.Chain.Named("receiver 2"))
		r.Step()
		r.Step()
		r.Settle()
		got := r.statuses(list...)
		if got[bursar.WithdrawalFailed] != 1 || got[bursar.WithdrawalConfirmed] != 3 ||
			r.Now(list[2]).Status != bursar.WithdrawalFailed {
			t.Errorf("the withdrawals are %v, want 1 and 3 and %v", got, bursar.WithdrawalFailed)
		}
		txs := map[string]bool{}
		for _, i := range []int{0, 1, 3} {
			txs[r.Now(list[i]).TxID] = true
		}
		if len(txs) != 1 {
			t.Errorf("the others were paid by %d transactions, want 1", len(txs))
		}
	})
}

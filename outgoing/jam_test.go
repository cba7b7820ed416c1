package outgoing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// withTokens gives a harness two tokens, TOKEN and OTHER, with few decimals.
func (r *harness) withTokens() *harness {
	list := []bursar.Currency{r.currency}
	for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
		list = append(list, bursar.Currency{Code: code, Chain: r.chain.Capabilities().ID,
			Contract: r.chain.Named(strings.ToLower(string(code))), Decimals: 2, Places: 2,
			Minimum: bursar.Units(10), WithdrawalMinimum: bursar.Units(10)})
	}
	var err error
	r.registry, err = bursar.NewRegistry(list)
	r.must(err)
	r.restart()
	return r
}

// give pays units of a token from outside.
func (r *harness) give(code bursar.CurrencyCode, to bursar.Address, units uint64) {
	r.t.Helper()
	currency, err := r.registry.Get(code)
	r.must(err)
	r.chain.Pay(chain.Payment{Address: to, Contract: currency.Contract, Amount: bursar.Units(units)})
}

func (r *harness) orderOf(account int, code bursar.CurrencyCode, units uint64, to string) bursar.Withdrawal {
	r.t.Helper()
	currency, err := r.registry.Get(code)
	r.must(err)
	w, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[account], Currency: code,
		Amount: currency.Exact(bursar.Units(units)), Address: to})
	r.must(err)
	return w
}

// statuses counts withdrawals by status.
func (r *harness) statuses(list ...bursar.Withdrawal) map[bursar.WithdrawalStatus]int {
	counts := map[bursar.WithdrawalStatus]int{}
	for _, w := range list {
		counts[r.now(w).Status]++
	}
	return counts
}

// blocks mines n blocks, with a step of every worker but the sweeper in each.
func (r *harness) blocksWithoutSweeps(n int) {
	r.t.Helper()
	for range n {
		r.chain.Mine(1)
		for more := true; more; {
			var err error
			more, err = r.follower.Step(ctx, r.lease)
			r.check(err)
		}
		r.check(r.sender.Step(ctx, r.lease))
	}
}

func (r *harness) blocks(n int) {
	r.t.Helper()
	for range n {
		r.chain.Mine(1)
		r.step()
	}
}

// jam opens n sweeps of TOKEN from addresses that hold some and have no gas.
func (r *harness) jam(n int) {
	r.t.Helper()
	token, err := r.registry.Get("TOKEN")
	r.must(err)
	var wallets []bursar.Wallet
	for range n {
		w := r.walletOf(1, "TOKEN")
		wallets = append(wallets, w)
		r.give("TOKEN", w.Address, 500)
	}
	r.blocksWithoutSweeps(4)
	r.do(func(tx *store.Tx) error {
		for _, w := range wallets {
			from := chain.Source{Base: w.Address.Base,
				Key: chain.KeyRef{Family: r.chain.Capabilities().Family, Branch: chain.DepositBranch, Index: w.Index}}
			payment := chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
				Amount: bursar.Units(500)}
			request := chain.TxRequest{ID: r.ids.Next(), Kind: chain.KindSweep, Payments: []chain.Payment{payment}, From: from,
				MaxFee: r.sweeper.MaxFee}
			ordered, err := outgoing.InsertSweep(ctx, tx, r.chain.Capabilities().ID, request, "TOKEN")
			if err != nil || !ordered {
				return fmt.Errorf("a sweep was not requested: %w", err)
			}
		}
		return nil
	})
}

// logOpen logs some open outgoing transactions of every share.
func (r *harness) logOpen(n int) {
	r.t.Helper()
	counts := map[string]int{}
	r.view(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.chain.Capabilities().ID, 100_000)
		for _, p := range open {
			kind := fmt.Sprintf("%s %s %s", p.Share, p.Currency, p.Status)
			if counts[kind]++; counts[kind] <= n {
				r.t.Logf("%s %d: waits for %q, error %q", kind, p.Number, p.WaitsFor, p.Error)
			}
		}
		return err
	})
	r.t.Logf("open are %v", counts)
}

// topUps counts the open top-ups by the address that receives them.
func (r *harness) topUps() map[string]int {
	r.t.Helper()
	counts := map[string]int{}
	r.view(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.chain.Capabilities().ID, 100_000)
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
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		maxFee := bursar.Units(5_000_000)
		r.sender.MaxFee, r.sweeper.MaxFee = maxFee, maxFee
		r.jam(230)
		r.trouble = true
		r.chain.SetRate(10_000)
		r.blocksWithoutSweeps(3)
		to := r.chain.Named("outside")
		w := r.order(1_000_000, to)
		r.blocksWithoutSweeps(3)
		r.chain.SetRate(10)
		r.blocksWithoutSweeps(12)
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("behind 230 sweeps the withdrawal is %s", got)
			r.logOpen(5)
		}
		for base, n := range r.topUps() {
			if n > 1 {
				t.Fatalf("%d top-ups of %s are open", n, base)
			}
		}
	})
}

// Withdrawals of a token that the hot wallet lacks hold up no others: the native asset and another token are paid, and
// so are withdrawals of the short token that are covered. The alarm says how much is missing, and closes automatically.
func TestAShortCurrencyHoldsUpNoOther(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
			r.give(code, r.walletOf(0, code).Address, 1_000_000)
		}
		r.give("OTHER", bursar.Address{Base: r.hot.Base}, 1_000)
		r.give("TOKEN", bursar.Address{Base: r.hot.Base}, 50)
		r.blocksWithoutSweeps(4)
		var short []bursar.Withdrawal
		for range 25 {
			short = append(short, r.orderOf(0, "TOKEN", 60, r.chain.Named("late")))
		}
		small := r.orderOf(0, "TOKEN", 40, r.chain.Named("small"))
		native, other := r.order(1_000_000, r.chain.Named("coin")), r.orderOf(0, "OTHER", 600, r.chain.Named("elsewhere"))
		r.blocksWithoutSweeps(12)
		if got := r.statuses(native, other, small); got[bursar.WithdrawalConfirmed] != 3 {
			t.Errorf("behind a short token the others are %v", got)
		}
		if got := r.statuses(short...); got[bursar.WithdrawalQueued] != 25 {
			t.Errorf("the short ones are %v", got)
		}
		r.view(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().OfKind(ctx, "funds_low")
			if len(alarms) != 1 || !strings.Contains(alarms[0].Message, "lacks 14.90 TOKEN for 25 payments") ||
				!strings.Contains(alarms[0].Message, r.hot.Base) {
				t.Errorf("the alarms are %+v", alarms) // 25 times 0.60 are 15.00, and 0.10 is there
			}
			return err
		})
		r.give("TOKEN", bursar.Address{Base: r.hot.Base}, 1490)
		r.blocksWithoutSweeps(20)
		if got := r.statuses(short...); got[bursar.WithdrawalConfirmed] != 25 {
			t.Errorf("with what the alarm asked for they are %v", got)
		}
		r.view(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().OfKind(ctx, "funds_low")
			if len(alarms) != 0 {
				t.Errorf("it is over, and the alarms are %+v", alarms)
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
			each(t, numbered, func(t *testing.T, r *harness) {
				r.withTokens().prepare()
				unit := uint64(100)
				if code == "COIN" {
					unit = 20_000_000 // prepare has left 100 of them, with what was swept
				} else {
					r.give(code, bursar.Address{Base: r.hot.Base}, 100*unit)
				}
				for range 6 {
					r.give(code, r.walletOf(0, code).Address, 100*unit)
				}
				r.blocksWithoutSweeps(4)
				var list []bursar.Withdrawal
				for i := range 6 {
					list = append(list, r.orderOf(0, code, 90*unit, r.chain.Named(fmt.Sprint("receiver ", i))))
				}
				r.blocksWithoutSweeps(6)
				if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != 1 || got[bursar.WithdrawalQueued] != 5 {
					t.Errorf("before the sweep they are %v", got)
				}
				r.settle()
				if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != 6 {
					t.Errorf("after the sweep they are %v", got)
				}
			})
		})
	}
}

// A batch that costs more than the limit is paid in parts; a payment that costs more than the limit alone waits, its
// error says so, and it holds up no others.
func TestABatchAboveTheFeeLimitIsSplit(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		for range 40 {
			r.pay(r.wallet(0).Address, 1_000_000)
		}
		r.chain.Mine(3)
		r.step()
		// At a rate of 10, a payment with 5 inputs costs 4,120, with 9 less than 7,000, with 16 11,600, and all five
		// together 16,240.
		r.sender.MaxFee = bursar.Units(10_000)
		var list []bursar.Withdrawal
		for i := range 5 {
			list = append(list, r.order(4_000_000, r.chain.Named(fmt.Sprint("receiver ", i))))
		}
		large := r.order(15_000_000, r.chain.Named("large"))
		for range 16 {
			r.blocks(1)
		}
		if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != 5 {
			t.Errorf("the withdrawals are %v", got)
			r.logOpen(20)
		}
		if got := r.now(large).Status; got != bursar.WithdrawalQueued {
			t.Errorf("the large one is %s", got)
		}
		r.wantAlarms("fee_above_limit")
		r.sender.MaxFee = bursar.Units(1 << 30) // the operator raises max_fee and restarts
		r.blocks(6)
		if got := r.now(large).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("with a higher limit the large one is %s", got)
			r.logOpen(20)
		}
	})
}

// Of a batch with a receiver that can never be paid, only that withdrawal fails, and the others are paid together.
func TestARefusedReceiverFailsAlone(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.prepare()
		var list []bursar.Withdrawal
		for i := range 4 {
			list = append(list, r.order(1_000_000, r.chain.Named(fmt.Sprint("receiver ", i))))
		}
		r.chain.RequireMemo(r.chain.Named("receiver 2"))
		r.step()
		r.step()
		r.settle()
		got := r.statuses(list...)
		if got[bursar.WithdrawalFailed] != 1 || got[bursar.WithdrawalConfirmed] != 3 ||
			r.now(list[2]).Status != bursar.WithdrawalFailed {
			t.Errorf("the withdrawals are %v", got)
		}
		txs := map[string]bool{}
		for _, i := range []int{0, 1, 3} {
			txs[r.now(list[i]).TxID] = true
		}
		if len(txs) != 1 {
			t.Errorf("the others were paid by %d transactions", len(txs))
		}
	})
}

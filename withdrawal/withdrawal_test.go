package withdrawal_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/withdrawal"
)

// Any number of concurrent requests spend a balance once.
func TestParallelWithdrawalsSpendABalanceOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		var taken, refused atomic.Int64
		var group sync.WaitGroup
		for i := range 30 {
			group.Go(func() {
				_, err := r.Withdraw(0, 9_000_000, r.Chain.Named(fmt.Sprint("receiver ", i)))
				switch {
				case err == nil:
					taken.Add(1)
				case bursartest.IsCode(err, bursar.CodeInsufficientBalance):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if taken.Load() != 10 &&
			taken.Load() != 11 { // 99,000,000 left after the deposit's fee; each withdrawal costs its network fee as well
			t.Fatalf("%d orders were taken, %d refused", taken.Load(), refused.Load())
		}
		r.Available(0) // fails below zero
		r.Settle()
		if err := r.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWithdrawalsAreRefusedBeforeAnyDebit(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		before := r.Available(0)
		demanding := r.Chain.Named("demands a memo")
		r.Chain.RequireMemo(demanding)
		for name, c := range map[string]struct {
			order withdrawal.Request
			code  bursar.ErrorCode
		}{
			"currency": {withdrawal.Request{Currency: "NONE", Amount: "1", Address: r.Chain.Named("x")},
				bursar.CodeUnsupportedCurrency},
			"amount": {withdrawal.Request{Currency: "COIN", Amount: "1e1", Address: r.Chain.Named("x")},
				bursar.CodeInvalidAmount},
			"zero": {withdrawal.Request{Currency: "COIN", Amount: "0", Address: r.Chain.Named("x")},
				bursar.CodeInvalidAmount},
			"places": {withdrawal.Request{Currency: "COIN", Amount: "0.123456789", Address: r.Chain.Named("x")},
				bursar.CodeInvalidAmount},
			"minimum": {withdrawal.Request{Currency: "COIN", Amount: "0.00000499", Address: r.Chain.Named("x")},
				bursar.CodeBelowMinimum},
			"address": {withdrawal.Request{Currency: "COIN", Amount: "0.1", Address: "nowhere"}, bursar.CodeInvalidAddress},
			"hot": {withdrawal.Request{Currency: "COIN", Amount: "0.1", Address: r.Hot.Base},
				bursar.CodeDestinationRefused},
			"no memo": {withdrawal.Request{Currency: "COIN", Amount: "0.1", Address: demanding}, bursar.CodeDestinationRefused},
			"balance": {withdrawal.Request{Currency: "COIN", Amount: "0.99", Address: r.Chain.Named("x")},
				bursar.CodeInsufficientBalance},
			"far beyond": {withdrawal.Request{Currency: "COIN", Amount: "1000000000", Address: r.Chain.Named("x")},
				bursar.CodeInsufficientBalance},
		} {
			c.order.Account = r.Accounts[0]
			if _, err := r.Withdrawals.Request(ctx, c.order); !bursartest.IsCode(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		if after := r.Available(0); after != before {
			t.Errorf("available went from %s to %s", before, after)
		}
	})
}

func TestAnOperatorDecides(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Currency.ApprovalAbove = bursar.Units(50_000_000)
		r.Reconfigure()
		full := r.Available(0)
		order := func(units uint64, to string) bursar.Withdrawal {
			t.Helper()
			w, err := r.Withdraw(0, units, r.Chain.Named(to))
			r.Must(err)
			return w
		}
		approved, rejected, cancelled, small := order(60_000_000, "approved"), order(60_000_000, "rejected"),
			order(60_000_000, "cancelled"), order(50_000_000, "small")
		if approved.Status != bursar.WithdrawalPendingApproval || small.Status != bursar.WithdrawalQueued {
			t.Fatalf("%s and %s, want %s and %s",
				approved.Status, small.Status, bursar.WithdrawalPendingApproval, bursar.WithdrawalQueued)
		}
		if w, err := r.Withdrawals.Reject(ctx, rejected.ID, "no"); err != nil || w.Status != bursar.WithdrawalRejected ||
			w.Error != "no" {
			t.Errorf("rejected: %+v, %v, want %v and %q", w, err, bursar.WithdrawalRejected, "no")
		}
		if w, err := r.Withdrawals.Cancel(ctx, cancelled.ID); err != nil || w.Status != bursar.WithdrawalCancelled {
			t.Errorf("cancelled: %+v, %v, want %v", w, err, bursar.WithdrawalCancelled)
		}
		if _, err := r.Withdrawals.Approve(ctx, approved.ID); err != nil {
			t.Error(err)
		}
		for _, again := range []func() (bursar.Withdrawal, error){
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Approve(ctx, rejected.ID) },
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Reject(ctx, approved.ID, "late") },
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Cancel(ctx, cancelled.ID) },
		} {
			if w, err := again(); !errors.Is(err, withdrawal.ErrTooLate) {
				t.Errorf("a second decision gave %s, %v, want %v", w.Status, err, withdrawal.ErrTooLate)
			}
		}
		r.Settle()
		if _, err := r.Withdrawals.Cancel(ctx, small.ID); !errors.Is(err, withdrawal.ErrTooLate) {
			t.Errorf("a paid withdrawal was cancelled: %v, want %v", err, withdrawal.ErrTooLate)
		}
		for to, want := range map[string]uint64{"approved": 60_000_000, "rejected": 0, "cancelled": 0, "small": 50_000_000} {
			if got := r.Chain.Balance(r.Chain.Named(to), ""); got != bursar.Units(want) {
				t.Errorf("%s got %s, want %s", to, got, bursar.Units(want))
			}
		}
		spent, _ := bursar.Sum(approved.Amount, approved.Fee, small.Amount, small.Fee)
		if left, _ := full.Sub(spent); r.Available(0) != left {
			t.Errorf("available is %s, want %s", r.Available(0), left)
		}
		r.Must(r.Audit())
	})
}

// A withdrawal whose transaction is in a block and failed is refunded in full once the block is final; the operator
// bears the gas.
func TestAPaymentThatFailedOnTheChainIsRefundedOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			return // a transaction of UTXOs cannot fail in a block
		}
		r.Step()
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		before := r.Available(0)
		to := r.Chain.Named("closes its door")
		order, err := r.Withdraw(0, 60_000_000, to)
		r.Must(err)
		r.Step()
		r.Chain.Close(to)
		r.Chain.Mine(1)
		r.Step()
		if got, _ := r.Withdrawals.Get(ctx, r.Accounts[0], order.ID); got.Status != bursar.WithdrawalBroadcast {
			t.Fatalf("before it is final the withdrawal is %s, want %s", got.Status, bursar.WithdrawalBroadcast)
		}
		r.Settle()
		r.Settle()
		got, err := r.Withdrawals.Get(ctx, r.Accounts[0], order.ID)
		if err != nil || got.Status != bursar.WithdrawalFailed || got.Error == "" {
			t.Fatalf("the withdrawal is %+v, %v, want %v and not %q", got, err, bursar.WithdrawalFailed, "")
		}
		if after := r.Available(0); after != before {
			t.Errorf("available went from %s to %s", before, after)
		}
		r.Must(r.Audit())
	})
}

package withdrawal_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
)

// A withdrawal to an address that became a wallet of this service after the request is a deposit there.
func TestAPaymentToANewWalletIsItsDeposit(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		before := r.Prepare()
		to := r.FutureAddress(1)
		w := r.Order(300_000_000, to.Base)
		if got := r.Wallet(1).Address; got != to {
			t.Fatal("the address is not the one that is paid")
		}
		r.Settle()
		r.Settle()
		left := before.SubOrZero(w.Amount).SubOrZero(w.Fee)
		if a, b := r.Available(0), r.Available(1); a != left || b != bursar.Units(297_000_000) {
			t.Errorf("the payer has %s, want %s; the receiver %s", a, left, b)
		}
		r.Must(r.Audit())
	})
}

// An operator cannot approve a withdrawal whose address became another currency's wallet after the request: it could
// not be credited.
func TestAnApprovalToAnotherCurrencysWalletIsRefused(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		other := r.Currency
		other.Code, other.Contract = "OTHER", r.Chain.Named("contract")
		r.Currency.ApprovalAbove = bursar.Units(50_000_000)
		r.Reconfigure(other)
		before := r.Prepare()
		to := r.FutureAddress(1)
		w := r.Order(300_000_000, to.Base)
		r.WalletOf(1, "OTHER")
		if _, err := r.Withdrawals.Approve(ctx, w.ID); !bursartest.IsCode(err, bursar.CodeDestinationRefused) {
			t.Errorf("the approval gave %v, want %v", err, bursar.CodeDestinationRefused)
		}
		if _, err := r.Withdrawals.Reject(ctx, w.ID, "no"); err != nil {
			t.Error(err)
		}
		if got := r.Available(0); got != before {
			t.Errorf("the payer has %s of %s", got, before)
		}
	})
}

func TestAnInternalTransferTouchesNoChain(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		to := r.Wallet(1)
		order, err := r.Withdraw(0, 50_000_000, to.Address.String())
		if err != nil || order.Status != bursar.WithdrawalConfirmed || !order.Fee.IsZero() {
			t.Fatalf("%+v, %v, want %v and zero", order, err, bursar.WithdrawalConfirmed)
		}
		if a, b := r.Available(0), r.Available(1); a != bursar.Units(49_000_000) || b != bursar.Units(49_500_000) {
			t.Fatalf("the accounts hold %s and %s, want %s and %s",
				a, b, bursar.Units(49_000_000), bursar.Units(49_500_000))
		}
		r.Settle()
		if err := r.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}

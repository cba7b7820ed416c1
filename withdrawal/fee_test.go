package withdrawal_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// An account's own fees count for deposits and withdrawals after they were set. The fee that was quoted for a
// withdrawal is the one that is taken, and the one that is given back if it is not paid.
func TestAnAccountsOwnFees(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		if got := r.Available(0); got != bursar.Units(99_000_000) {
			t.Fatalf("by the currency's fee available is %s, want %s", got, bursar.Units(99_000_000))
		}
		r.Charged(0, bursar.FeeOfDeposit, bursar.Fee{Millionths: 5000, Fixed: bursar.Units(300)})
		r.Charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Millionths: 1000, Fixed: bursar.Units(70)})
		r.Pay(w.Address, 100_000_001)
		r.Chain.Mine(3)
		r.Step()
		if got := r.Available(0); got != bursar.Units(99_000_000+100_000_001-500_001-300) {
			t.Fatalf("by its own fee available is %s, want %s", got, bursar.Units(99_000_000+100_000_001-500_001-300))
		}
		before := r.Available(0)
		order, err := r.Withdraw(0, 10_000_001, r.Chain.Named("outsider"))
		r.Must(err)
		if order.Fee != bursar.Units(10_001+70) {
			t.Fatalf("the withdrawal costs %s, want %s", order.Fee, bursar.Units(10_001+70))
		}
		r.Charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Fixed: bursar.Units(9_999_999)})
		r.Do(func(tx *store.Tx) error { _, err := tx.FeeRules().Clear(ctx, r.Accounts[0], "COIN"); return err })
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Settle()
		got, err := r.Withdrawals.Get(ctx, r.Accounts[0], order.ID)
		r.Must(err)
		if spent, _ := bursar.Sum(order.Amount, order.Fee); got.Status != bursar.WithdrawalConfirmed ||
			got.Fee != order.Fee || r.Available(0) != before.SubOrZero(spent) {
			t.Errorf("after %s were spent of %s there are %s: %+v", spent, before, r.Available(0), got)
		}
		if got := r.Income(ledger.WithdrawalFees); got != order.Fee {
			t.Errorf("taken is %s, want %s", got, order.Fee)
		}
		next, err := r.Withdraw(0, 10_000_001, r.Chain.Named("outsider"))
		r.Must(err)
		if quote, err := r.Chain.Quote(ctx, chain.Payment{Address: next.Address, Amount: next.Amount}); err != nil ||
			next.Fee != quote {
			t.Errorf("by the currency's fee again the withdrawal costs %s, the network %s, %v", next.Fee, quote, err)
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// The network fee is added to an account's own fee if the setting says so.
func TestTheNetworkFeeIsAddedToAnAccountsOwn(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Network: true, Fixed: bursar.Units(11)})
		order, err := r.Withdraw(0, 1_000_000, r.Chain.Named("outsider"))
		r.Must(err)
		quote, err := r.Chain.Quote(ctx, chain.Payment{Address: order.Address, Amount: order.Amount})
		r.Must(err)
		if want, _ := quote.Add(bursar.Units(11)); order.Fee != want {
			t.Errorf("the withdrawal costs %s, want %s", order.Fee, want)
		}
	})
}

// In a transfer within the service the sender pays its withdrawal fee, without a network fee, and the receiver its own
// deposit fee.
func TestFeesOfAnInternalTransfer(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Charged(0, bursar.FeeOfDeposit, bursar.Fee{Millionths: 999_999}) // of no account in this
		r.Charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Network: true, Fixed: bursar.Units(40)})
		r.Charged(1, bursar.FeeOfDeposit, bursar.Fee{Fixed: bursar.Units(25)})
		for receiver, fee := range map[int]uint64{1: 25, 2: 100_000} { // the second by the currency's one per cent
			before := r.Available(0)
			order, err := r.Withdraw(0, 10_000_000, r.Wallet(receiver).Address.Base)
			r.Must(err)
			if order.Fee != bursar.Units(40) || order.Status != bursar.WithdrawalConfirmed {
				t.Fatalf("the order is %+v, want %v and %v", order, bursar.Units(40), bursar.WithdrawalConfirmed)
			}
			if got := r.Available(0); got != before.SubOrZero(bursar.Units(10_000_040)) {
				t.Errorf("the sender is left with %s of %s", got, before)
			}
			if got := r.Available(receiver); got != bursar.Units(10_000_000-fee) {
				t.Errorf("receiver %d has %s, want %s", receiver, got, bursar.Units(10_000_000-fee))
			}
		}
		r.Must(r.Audit())
	})
}

// A fee takes nothing from an account below zero: a deposit raises its balance by what the fee leaves, and never lowers
// it.
func TestAFeeNeverTakesBelowZero(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		gone := r.Pay(w.Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		_, err := r.Withdraw(0, 50_000_000, r.Wallet(1).Address.Base)
		r.Must(err)
		r.Chain.Reorg(3, gone)
		r.Step()
		short := below(r, 0)
		r.Charged(0, bursar.FeeOfDeposit, bursar.Fee{Fixed: bursar.Units(1 << 50)})
		r.Pay(w.Address, 1000)
		r.Chain.Mine(3)
		r.Step()
		if got := below(r, 0); got != short || short.IsZero() {
			t.Errorf("a fee took the account from %s below zero to %s", short, got)
		}
		r.Charged(0, bursar.FeeOfDeposit, bursar.Fee{Fixed: bursar.Units(400)})
		r.Pay(w.Address, 1000)
		r.Chain.Mine(3)
		r.Step()
		if got := below(r, 0); got != short.SubOrZero(bursar.Units(600)) {
			t.Errorf("a deposit took the account from %s below zero to %s, want %s",
				short, got, short.SubOrZero(bursar.Units(600)))
		}
		r.Must(r.Audit())
	})
}

// below returns by how much an account is below zero.
func below(r *bursartest.OneChain, account int) bursar.Amount {
	r.T.Helper()
	var b ledger.Balance
	r.View(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Available(r.Accounts[account]), "COIN")
		return err
	})
	amount, negative := b.Net(ledger.Liability)
	if !negative && !amount.IsZero() {
		r.T.Fatalf("account %d holds %s", account, amount)
	}
	return amount
}

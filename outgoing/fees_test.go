package outgoing_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// charged sets a fee of an account for the one currency.
func (r *harness) charged(account int, kind bursar.FeeKind, fee bursar.Fee) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: r.accounts[account], Currency: "COIN", Kind: kind, Fee: fee})
	})
}

// income returns what the operator has taken.
func (r *harness) income(account ledger.Account) bursar.Amount {
	r.t.Helper()
	var b ledger.Balance
	r.view(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, account, "COIN")
		return err
	})
	amount, _ := b.Net(ledger.Income)
	return amount
}

// An account's own fees count for what is credited and ordered after they were set. What the order told is what is
// taken, and what is given back where it is not paid.
func TestAnAccountsOwnFees(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 100_000_000)
		r.chain.Mine(3)
		r.step()
		if got := r.available(0); got != bursar.Units(99_000_000) {
			t.Fatalf("by the currency's fee available is %s", got)
		}
		r.charged(0, bursar.FeeOfDeposit, bursar.Fee{Millionths: 5000, Fixed: bursar.Units(300)})
		r.charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Millionths: 1000, Fixed: bursar.Units(70)})
		r.pay(w.Address, 100_000_001)
		r.chain.Mine(3)
		r.step()
		if got := r.available(0); got != bursar.Units(99_000_000+100_000_001-500_001-300) {
			t.Fatalf("by its own fee available is %s", got)
		}
		before := r.available(0)
		order, err := r.withdraw(0, 10_000_001, r.chain.Named("outsider"))
		r.must(err)
		if order.Fee != bursar.Units(10_001+70) {
			t.Fatalf("the order costs %s", order.Fee)
		}
		r.charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Fixed: bursar.Units(9_999_999)})
		r.do(func(tx *store.Tx) error { _, err := tx.FeeRules().Clear(ctx, r.accounts[0], "COIN"); return err })
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		r.settle()
		got, err := r.withdrawals.Get(ctx, r.accounts[0], order.ID)
		r.must(err)
		if spent, _ := bursar.Sum(order.Amount, order.Fee); got.Status != bursar.WithdrawalConfirmed ||
			got.Fee != order.Fee || r.available(0) != before.SubOrZero(spent) {
			t.Errorf("after %s were spent of %s there are %s: %+v", spent, before, r.available(0), got)
		}
		if got := r.income(ledger.WithdrawalFees); got != order.Fee {
			t.Errorf("taken is %s", got)
		}
		next, err := r.withdraw(0, 10_000_001, r.chain.Named("outsider"))
		r.must(err)
		if quote, err := r.chain.Quote(ctx, chain.Payment{Address: next.Address, Amount: next.Amount}); err != nil ||
			next.Fee != quote {
			t.Errorf("by the currency's fee again the order costs %s, the network %s, %v", next.Fee, quote, err)
		}
		r.settle()
		r.must(r.audit())
	})
}

// The network's fee is added to an account's own where that says so.
func TestTheNetworksFeeBesideAnAccountsOwn(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 100_000_000)
		r.chain.Mine(3)
		r.step()
		r.charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Network: true, Fixed: bursar.Units(11)})
		order, err := r.withdraw(0, 1_000_000, r.chain.Named("outsider"))
		r.must(err)
		quote, err := r.chain.Quote(ctx, chain.Payment{Address: order.Address, Amount: order.Amount})
		r.must(err)
		if want, _ := quote.Add(bursar.Units(11)); order.Fee != want {
			t.Errorf("the order costs %s, want %s", order.Fee, want)
		}
	})
}

// Of a transfer within the service the sender pays its fee for withdrawals, without a network's, and the receiver its
// own for deposits.
func TestFeesOfATransferWithin(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 100_000_000)
		r.chain.Mine(3)
		r.step()
		r.charged(0, bursar.FeeOfDeposit, bursar.Fee{Millionths: 999_999}) // of no account in this
		r.charged(0, bursar.FeeOfWithdrawal, bursar.Fee{Network: true, Fixed: bursar.Units(40)})
		r.charged(1, bursar.FeeOfDeposit, bursar.Fee{Fixed: bursar.Units(25)})
		for receiver, fee := range map[int]uint64{1: 25, 2: 100_000} { // the second by the currency's one per cent
			before := r.available(0)
			order, err := r.withdraw(0, 10_000_000, r.wallet(receiver).Address.Base)
			r.must(err)
			if order.Fee != bursar.Units(40) || order.Status != bursar.WithdrawalConfirmed {
				t.Fatalf("the order is %+v", order)
			}
			if got := r.available(0); got != before.SubOrZero(bursar.Units(10_000_040)) {
				t.Errorf("the sender is left with %s of %s", got, before)
			}
			if got := r.available(receiver); got != bursar.Units(10_000_000-fee) {
				t.Errorf("receiver %d has %s", receiver, got)
			}
		}
		r.must(r.audit())
	})
}

// A fee takes nothing from an account below zero: a deposit helps it by what the fee leaves, and never harms it.
func TestAFeeNeverTakesBelowZero(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		gone := r.pay(w.Address, 100_000_000)
		r.chain.Mine(3)
		r.step()
		_, err := r.withdraw(0, 50_000_000, r.wallet(1).Address.Base)
		r.must(err)
		r.chain.Reorg(3, gone)
		r.step()
		short := r.below(0)
		r.charged(0, bursar.FeeOfDeposit, bursar.Fee{Fixed: bursar.Units(1 << 50)})
		r.pay(w.Address, 1000)
		r.chain.Mine(3)
		r.step()
		if got := r.below(0); got != short || short.IsZero() {
			t.Errorf("a fee took the account from %s below zero to %s", short, got)
		}
		r.charged(0, bursar.FeeOfDeposit, bursar.Fee{Fixed: bursar.Units(400)})
		r.pay(w.Address, 1000)
		r.chain.Mine(3)
		r.step()
		if got := r.below(0); got != short.SubOrZero(bursar.Units(600)) {
			t.Errorf("a deposit took the account from %s below zero to %s", short, got)
		}
		r.must(r.audit())
	})
}

// below returns by how much an account is below zero.
func (r *harness) below(account int) bursar.Amount {
	r.t.Helper()
	var b ledger.Balance
	r.view(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Available(r.accounts[account]), "COIN")
		return err
	})
	amount, negative := b.Net(ledger.Liability)
	if !negative && !amount.IsZero() {
		r.t.Fatalf("account %d holds %s", account, amount)
	}
	return amount
}

// Whatever the fee of a currency and of an account, what a deposit brings is what is credited and what is taken, in the
// answer as in the books, on either database.
func TestADepositIsWhatIsCreditedAndWhatIsTaken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
		r.step()
		w := r.wallet(0)
		rapid.Check(t, func(t *rapid.T) {
			fee := bursar.Fee{Millionths: rapid.Uint32Range(0, 1_000_000).Draw(t, "millionths"),
				Fixed: bursar.Units(rapid.Uint64().Draw(t, "fixed"))}
			if rapid.Bool().Draw(t, "small") {
				fee.Fixed = bursar.Units(rapid.Uint64Range(0, 5000).Draw(t, "fixed"))
			}
			brought := bursar.Units(rapid.Uint64Range(1000, 1<<40).Draw(t, "amount"))
			r.charged(0, bursar.FeeOfDeposit, fee)
			before, taken := r.available(0), r.income(ledger.DepositFees)
			r.pay(w.Address, mustFit(brought))
			r.chain.Mine(1)
			r.step()
			var d bursar.Deposit
			r.view(func(tx *store.Tx) error {
				list, err := tx.Deposits().List(ctx, r.accounts[0], w.ID, store.Page{Limit: 1})
				if err == nil {
					d = list[0]
				}
				return err
			})
			if d.Amount != brought || d.Status != bursar.DepositConfirmed || d.Fee != fee.Within(brought) {
				t.Fatalf("by %+v the deposit of %s is %+v", fee, brought, d)
			}
			left := brought.SubOrZero(d.Fee)
			if whole, _ := before.Add(left); r.available(0) != whole {
				t.Fatalf("%s and %s are %s", before, left, r.available(0))
			}
			if whole, _ := taken.Add(d.Fee); r.income(ledger.DepositFees) != whole {
				t.Fatalf("the operator had %s and took %s: %s", taken, d.Fee, r.income(ledger.DepositFees))
			}
		})
		r.must(r.audit())
	})
}

func mustFit(a bursar.Amount) uint64 {
	n, _ := a.Uint64()
	return n
}

package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// payToken credits an account with 80 of a token and pays out 10 of it, with a token that behaves in the given manners,
// until that is final.
func (r *harness) payToken(token bursar.Currency, manners sim.Manners) bursar.Withdrawal {
	r.t.Helper()
	r.step()
	r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.settle()
	r.chain.SetManners(token.Contract, manners)
	w, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10",
		Address: r.chain.Named("outside")})
	r.must(err)
	r.settle()
	return w
}

func (r *harness) wantToken(token bursar.Currency, available, losses string) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		for account, want := range map[ledger.Account]string{ledger.Available(r.accounts[0]): available,
			ledger.Losses: losses} {
			b, err := tx.Ledger().Balance(ctx, account, token.Code)
			if err != nil {
				return err
			}
			if got, negative := b.Net(account.Type()); negative || got.String() != want {
				r.t.Errorf("%s holds %s (below zero: %v), want %s", account, got, negative, want)
			}
		}
		return nil
	})
}

// A token that returns false has paid nobody, although its transaction succeeded: the customer is refunded in full,
// once.
func TestATokenThatReturnsFalseIsRefunded(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.payToken(token, sim.Manners{False: true})
		if got := r.now(w); got.Status != bursar.WithdrawalFailed || got.Error == "" {
			t.Errorf("it is %+v", got)
		}
		r.wantToken(token, "80000000", "0")
		r.wantAlarms("payout_short")
		r.must(r.reconcile())
		r.must(r.chain.Check())
	})
}

// A token that takes a fee on transfer delivers less: the customer pays for what was delivered, and the token's fee is
// the operator's loss. The currency pays nothing more until an operator has looked. A reorg deeper than finality undoes
// all of it.
func TestATokenThatTakesAFeeIsNoFullPayment(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		if got := r.chain.Balance(r.chain.Named("outside"), token.Contract); got != bursar.Units(9_900_000) {
			t.Fatalf("the receiver holds %s", got)
		}
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.Error == "" {
			t.Errorf("it is %+v", got)
		}
		r.wantToken(token, "70100000", "100000")
		r.wantAlarms("payout_short")
		r.must(r.reconcile())
		again, err := r.withdrawals.Request(ctx,
			withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10", Address: r.chain.Named("second")})
		for range 5 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.chain.Balance(r.chain.Named("second"), token.Contract); !got.IsZero() {
			t.Errorf("%s was paid of the halted currency (%v, %v)", got, again.ID, err)
		}
		if err == nil {
			_, err = r.withdrawals.Cancel(ctx, again.ID)
			r.must(err)
		}
		r.chain.SetManners(token.Contract, sim.Manners{})
		r.undo(r.now(w).TxID)
		r.step()
		r.settle()
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.Error != "" {
			t.Errorf("on the other branch it is %+v", got)
		}
		r.wantToken(token, "70000000", "0")
		r.must(r.reconcile())
	})
}

// sweepToken has a deposit of 80 of a token swept, with a token that behaves in the given manners, until that is final.
func (r *harness) sweepToken(token bursar.Currency, manners sim.Manners) bursar.Wallet {
	r.t.Helper()
	r.step()
	r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	w := r.walletOf(0, token.Code)
	r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
	r.chain.Mine(1)
	r.chain.SetManners(token.Contract, manners)
	r.settleAll()
	return w
}

// sweepOf returns the newest settled sweep of an address.
func (r *harness) sweepOf(base string) (found bursar.OutgoingTx) {
	r.t.Helper()
	_, latest := r.chain.Heights()
	r.view(func(tx *store.Tx) error {
		for height := range latest + 1 {
			settled, err := tx.Outgoing().SettledAt(ctx, r.chain.Capabilities().ID, height)
			if err != nil {
				return err
			}
			for _, p := range settled {
				if p.Kind == string(chain.KindSweep) && p.Base == base {
					found = p
				}
			}
		}
		return nil
	})
	return found
}

// If a token takes a fee of a sweep, the operator bears it and the currency is halted, because each payout would cost
// as much. A reorg deeper than finality undoes the loss, and the other branch books what it shows.
func TestASweepThatDeliversLessIsALoss(t *testing.T) {
	for _, again := range []struct {
		fee    uint64
		losses string
	}{{0, "0"}, {10_000, "800000"}, {20_000, "1600000"}} {
		each(t, numbered, func(t *testing.T, r *harness) {
			token := r.withToken()
			w := r.sweepToken(token, sim.Manners{Fee: 10_000})
			r.wantToken(token, "80000000", "800000")
			r.wantAlarms("payout_short")
			r.wantShort(token, true)
			if got := r.holding(w.Address.Base, token.Contract); !got.IsZero() {
				t.Errorf("the books say that %s are left at the address", got)
			}
			r.must(r.reconcile())
			r.chain.SetManners(token.Contract, sim.Manners{Fee: again.fee})
			r.undo(r.sweepOf(w.Address.Base).TxID)
			r.catchUp()
			r.wantToken(token, "80000000", "0")
			if got := r.holding(w.Address.Base, token.Contract); got != bursar.Units(80_000_000) {
				t.Errorf("while the sweep is in no final block the books say that %s are at the address", got)
			}
			r.settleAll()
			r.wantToken(token, "80000000", again.losses)
			r.must(r.reconcile())
			r.must(r.chain.Check())
		})
	}
}

// A token that returns false has swept nothing: it is still at its address, no loss is booked, and it is swept again
// after the halt.
func TestASweepThatDeliversNothingIsMadeAgain(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.sweepToken(token, sim.Manners{False: true})
		r.wantToken(token, "80000000", "0")
		r.wantShort(token, true)
		if got := r.holding(w.Address.Base, token.Contract); got != bursar.Units(80_000_000) {
			t.Errorf("the books say that %s are left at the address", got)
		}
		r.must(r.reconcile())
		first := r.sweepOf(w.Address.Base).TxID
		r.undo(first)
		r.settleAll()
		r.wantToken(token, "80000000", "0")
		r.must(r.reconcile())
		r.chain.SetManners(token.Contract, sim.Manners{})
		r.resume(store.Halt{Scope: store.HaltCurrency(token.Code), Kind: store.HaltByShortPayout})
		r.settleAll()
		if got := r.chain.Balance(r.hot.Base, token.Contract); got != bursar.Units(80_000_000) {
			t.Errorf("the hot wallet holds %s", got)
		}
		if got := r.holding(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("the books say that %s are left at the address", got)
		}
		r.wantToken(token, "80000000", "0")
		r.must(r.reconcile())
	})
}

// wantShort checks whether a currency is halted because its token delivered less than was paid.
func (r *harness) wantShort(token bursar.Currency, want bool) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		halts, err := tx.Halts().Of(ctx, store.HaltCurrency(token.Code))
		if is := len(halts) == 1 && halts[0].Kind == store.HaltByShortPayout; is != want {
			r.t.Errorf("halts are %+v", halts)
		}
		return err
	})
}

// If what a short payment gave back is spent and its block is reorged out, the account is below zero and frozen until
// the next branch is equally short and gives it back again.
func TestAShortPaymentThatRefundsAgainEndsTheFreeze(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		r.wantToken(token, "70100000", "100000")
		_, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "70.1",
			Address: r.chain.Named("second")})
		r.must(err)
		wantFrozen := func(when string, want bool) {
			t.Helper()
			r.view(func(tx *store.Tx) error {
				a, err := tx.Accounts().Get(ctx, r.accounts[0])
				if (a.Frozen != "") != want {
					t.Errorf("%s the account's freeze is %q", when, a.Frozen)
				}
				return err
			})
		}
		r.undo(r.now(w).TxID)
		r.catchUp()
		wantFrozen("reopened,", true)
		r.blocks(8)
		wantFrozen("settled again,", false)
		r.wantToken(token, "0", "100000")
	})
}

// What a token did not deliver is no difference between the books and the chain, also in the blocks before it is
// booked.
func TestAShortTransferIsReconciledBeforeItIsBooked(t *testing.T) {
	for name, manners := range map[string]sim.Manners{"false": {False: true}, "fee": {Fee: 10_000}, "whole": {}} {
		t.Run(name, func(t *testing.T) {
			each(t, numbered, func(t *testing.T, r *harness) {
				token := r.withToken()
				r.step()
				r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
				r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract,
					Amount: bursar.Units(80_000_000)})
				r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
					Amount: bursar.Units(80_000_000)})
				r.chain.Mine(5)
				r.catchUp()
				r.chain.SetManners(token.Contract, manners)
				_, err := r.withdrawals.Request(ctx,
					withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10", Address: r.chain.Named("outside")})
				r.must(err)
				for range 12 {
					r.step()
					r.must(r.reconcile())
					r.chain.Mine(1)
					r.catchUp()
					r.must(r.reconcile())
				}
				r.must(r.chain.Check())
			})
		})
	}
}

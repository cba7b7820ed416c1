package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// payToken credits an account with 80 of a token and pays out 10 of it, with a token that behaves in the given manners,
// until that is final.
func (r *harness) payToken(token bursar.Currency, manners sim.Manners) bursar.Withdrawal {
	r.T.Helper()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.Settle()
	r.Chain.SetManners(token.Contract, manners)
	w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10",
		Address: r.Chain.Named("outside")})
	r.Must(err)
	r.Settle()
	return w
}

func (r *harness) wantToken(token bursar.Currency, available, losses string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		for account, want := range map[ledger.Account]string{ledger.Available(r.Accounts[0]): available,
			ledger.Losses: losses} {
			b, err := tx.Ledger().Balance(ctx, account, token.Code)
			if err != nil {
				return err
			}
			if got, negative := b.Net(account.Type()); negative || got.String() != want {
				r.T.Errorf("%s holds %s (below zero: %v), want %s", account, got, negative, want)
			}
		}
		return nil
	})
}

// A token that returns false has paid nobody, although its transaction succeeded: the customer is refunded in full,
// once.
func TestATokenThatReturnsFalseIsRefunded(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.payToken(token, sim.Manners{False: true})
		if got := r.Now(w); got.Status != bursar.WithdrawalFailed || got.Error == "" {
			t.Errorf("the withdrawal is %+v, want %v and not %q", got, bursar.WithdrawalFailed, "")
		}
		r.wantToken(token, "80000000", "0")
		r.WantAlarms("payout_short")
		r.Must(r.Reconcile())
		r.Must(r.Chain.Check())
	})
}

// A token that takes a fee on transfer delivers less: the customer pays for what was delivered, and the token's fee is
// the operator's loss. The currency pays nothing more until an operator has looked. A reorg deeper than finality undoes
// all of it.
func TestATokenThatTakesAFeeIsNoFullPayment(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		if got := r.Chain.Balance(r.Chain.Named("outside"), token.Contract); got != bursar.Units(9_900_000) {
			t.Fatalf("the receiver holds %s, want %s", got, bursar.Units(9_900_000))
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.Error == "" {
			t.Errorf("the withdrawal is %+v, want %v and not %q", got, bursar.WithdrawalConfirmed, "")
		}
		r.wantToken(token, "70100000", "100000")
		r.WantAlarms("payout_short")
		r.Must(r.Reconcile())
		again, err := r.Withdrawals.Request(ctx,
			withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10", Address: r.Chain.Named("second")})
		for range 5 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Chain.Balance(r.Chain.Named("second"), token.Contract); !got.IsZero() {
			t.Errorf("%s was paid of the halted currency (%v, %v), want zero", got, again.ID, err)
		}
		if err == nil {
			_, err = r.Withdrawals.Cancel(ctx, again.ID)
			r.Must(err)
		}
		r.Chain.SetManners(token.Contract, sim.Manners{})
		r.Undo(r.Now(w).TxID)
		r.Step()
		r.Settle()
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.Error != "" {
			t.Errorf("on the other branch it is %+v, want %v and %q", got, bursar.WithdrawalConfirmed, "")
		}
		r.wantToken(token, "70000000", "0")
		r.Must(r.Reconcile())
	})
}

// If a token takes a fee of a sweep, the operator bears it and the currency is halted, because each payout would cost
// as much. A reorg deeper than finality undoes the loss, and the other branch books what it shows.
func TestASweepThatDeliversLessIsALoss(t *testing.T) {
	for _, again := range []struct {
		fee    uint64
		losses string
	}{{0, "0"}, {10_000, "800000"}, {20_000, "1600000"}} {
		each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
			token := r.WithToken()
			w := r.SweepToken(token, sim.Manners{Fee: 10_000})
			r.wantToken(token, "80000000", "800000")
			r.WantAlarms("payout_short")
			r.wantShort(token, true)
			if got := r.Holding(w.Address.Base, token.Contract); !got.IsZero() {
				t.Errorf("the books say that %s are left at the address, want 0", got)
			}
			r.Must(r.Reconcile())
			r.Chain.SetManners(token.Contract, sim.Manners{Fee: again.fee})
			r.Undo(r.SweepOf(w.Address.Base).TxID)
			r.CatchUp()
			r.wantToken(token, "80000000", "0")
			if got := r.Holding(w.Address.Base, token.Contract); got != bursar.Units(80_000_000) {
				t.Errorf("while the sweep is in no final block the books say that %s are at the address, want %s",
					got, bursar.Units(80_000_000))
			}
			r.SettleAll()
			r.wantToken(token, "80000000", again.losses)
			r.Must(r.Reconcile())
			r.Must(r.Chain.Check())
		})
	}
}

// A token that returns false has swept nothing: it is still at its address, no loss is booked, and it is swept again
// after the halt.
func TestASweepThatDeliversNothingIsMadeAgain(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.SweepToken(token, sim.Manners{False: true})
		r.wantToken(token, "80000000", "0")
		r.wantShort(token, true)
		if got := r.Holding(w.Address.Base, token.Contract); got != bursar.Units(80_000_000) {
			t.Errorf("the books say that %s are left at the address, want %s", got, bursar.Units(80_000_000))
		}
		r.Must(r.Reconcile())
		first := r.SweepOf(w.Address.Base).TxID
		r.Undo(first)
		r.SettleAll()
		r.wantToken(token, "80000000", "0")
		r.Must(r.Reconcile())
		r.Chain.SetManners(token.Contract, sim.Manners{})
		r.Resume(store.Halt{Scope: store.HaltCurrency(token.Code), Kind: store.HaltByShortPayout})
		r.SettleAll()
		if got := r.Chain.Balance(r.Hot.Base, token.Contract); got != bursar.Units(80_000_000) {
			t.Errorf("the hot wallet holds %s, want %s", got, bursar.Units(80_000_000))
		}
		if got := r.Holding(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("the books say that %s are left at the address, want 0", got)
		}
		r.wantToken(token, "80000000", "0")
		r.Must(r.Reconcile())
	})
}

// wantShort checks whether a currency is halted because its token delivered less than was paid.
func (r *harness) wantShort(token bursar.Currency, want bool) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		halts, err := tx.Halts().Of(ctx, store.HaltCurrency(token.Code))
		if is := len(halts) == 1 && halts[0].Kind == store.HaltByShortPayout; is != want {
			r.T.Errorf("halts are %+v", halts)
		}
		return err
	})
}

// If what a short payment gave back is spent and its block is reorged out, the account is below zero and frozen until
// the next branch is equally short and gives it back again.
func TestAShortPaymentThatRefundsAgainEndsTheFreeze(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		r.wantToken(token, "70100000", "100000")
		_, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "70.1",
			Address: r.Chain.Named("second")})
		r.Must(err)
		wantFrozen := func(when string, want bool) {
			t.Helper()
			r.View(func(tx *store.Tx) error {
				a, err := tx.Accounts().Get(ctx, r.Accounts[0])
				if (a.Frozen != "") != want {
					t.Errorf("%s the account's freeze is %q, want %v", when, a.Frozen, want)
				}
				return err
			})
		}
		r.Undo(r.Now(w).TxID)
		r.CatchUp()
		wantFrozen("reopened,", true)
		r.Blocks(8)
		wantFrozen("settled again,", false)
		r.wantToken(token, "0", "100000")
	})
}

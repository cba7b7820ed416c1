package spend_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// payToken credits an account with 80 of a token and pays 10 of it out, under the given manners of the token, until that is final.
func (r *rig) payToken(token bursar.Currency, manners sim.Manners) bursar.Withdrawal {
	r.t.Helper()
	r.step()
	r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
	r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
	r.settle()
	r.chain.SetManners(token.Contract, manners)
	w, err := r.withdrawals.Request(ctx, withdrawal.Order{Account: r.accounts[0], Currency: token.Code, Amount: "10", Address: r.chain.Named("outside")})
	r.must(err)
	r.settle()
	return w
}

func (r *rig) wantToken(token bursar.Currency, available, losses string) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		for account, want := range map[ledger.Account]string{ledger.Available(r.accounts[0]): available, ledger.Losses: losses} {
			b, err := tx.Balance(ctx, account, token.Code)
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

// A token that returns false has paid nobody, though its transaction succeeded: the customer gets all back, once.
func TestATokenThatReturnsFalseIsRefunded(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *rig) {
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

// A token that takes a fee on transfer delivers less: the customer pays for what arrived, and the token's fee is the operator's
// loss. The currency pays nothing more until somebody has looked. A reorganisation deeper than finality takes it all back.
func TestATokenThatTakesAFeeIsNoFullPayment(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *rig) {
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
		again, err := r.withdrawals.Request(ctx, withdrawal.Order{Account: r.accounts[0], Currency: token.Code, Amount: "10", Address: r.chain.Named("second")})
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

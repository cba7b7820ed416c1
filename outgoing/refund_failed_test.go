package outgoing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// Refunds to senders before and after a reorg deeper than finality.

var memoed = sim.Config{ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel, Confirmations: 3,
	SharedAddress: true}

func (r *harness) wantSender(name, want string) {
	r.T.Helper()
	if got := r.Chain.Balance(r.Chain.Named(name), ""); got.String() != want {
		r.T.Errorf("%s holds %s, want %s", name, got, want)
	}
}

// stepUntilOpen lets the follower undo blocks until the refund of a deposit is in none.
func (r *harness) stepUntilOpen(d bursar.Deposit) {
	r.T.Helper()
	for range 50 {
		_, err := r.Follower.Step(ctx, r.Lease)
		r.Must(err)
		open := false
		r.View(func(tx *store.Tx) error {
			open, err = tx.Resolutions().OpenRefund(ctx, d.ID, 0)
			return err
		})
		if open {
			return
		}
	}
	r.T.Fatal("its block is still on the chain")
}

// A refund that was paid and fails on the branch that follows makes its deposit unattributed again, and is paid when
// that branch is reorged out as well.
func TestAPaidRefundThatFailsAfterAll(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d := r.Astray()
		n := r.SendBack(d, "sender")
		r.Settle()
		r.wantSender("sender", n.Amount.String())
		r.WantBooks("0", "0", "0")
		r.Chain.Close(r.Chain.Named("sender"))
		r.Undo(r.Resolution(d).TxID)
		r.stepUntilOpen(d)
		if got := r.Resolution(d); got.Status != bursar.ResolutionSigned || !got.CompletedAt.IsZero() {
			t.Errorf("while no block is final, the decision is %+v", got)
		}
		r.WantBooks("0", "80000000", "0")
		r.Settle()
		if got := r.Resolution(d); got.Status != bursar.ResolutionFailed {
			t.Errorf("the decision is %+v, want %v", got, bursar.ResolutionFailed)
		}
		r.WantBooks("80000000", "0", "0")
		r.WantAlarms("unattributed", "deep_reorg")
		r.Must(r.Audit())
		r.Chain.Open(r.Chain.Named("sender"))
		r.Undo(r.Resolution(d).TxID)
		r.Step()
		r.Settle()
		r.WantBooks("0", "0", "0")
		r.wantSender("sender", n.Amount.String())
		if got := r.Resolution(d); got.Status != bursar.ResolutionDone {
			t.Errorf("the decision is %+v, want %v", got, bursar.ResolutionDone)
		}
		r.Must(r.Audit())
		r.Chain.Close(r.Chain.Named("sender"))
		r.Undo(r.Resolution(d).TxID)
		r.Step()
		r.Settle()
		r.WantBooks("80000000", "0", "0")
		r.Must(r.Audit())
	})
}

// failedRefund has a refund whose transaction is final and has failed.
func (r *harness) failedRefund() (bursar.Deposit, bursar.Resolution) {
	r.T.Helper()
	d := r.Astray()
	r.Chain.Close(r.Chain.Named("sender"))
	r.SendBack(d, "sender")
	r.Settle()
	r.WantBooks("80000000", "0", "0")
	n := r.Resolution(d)
	r.Chain.Open(r.Chain.Named("sender"))
	return d, n
}

// A failed refund whose deposit was resolved again waits until its block is final again: nothing is resolved or signed
// meanwhile that would pay the same value twice.
func TestAFailedRefundThatPaysAfterAllIsNotPaidTwice(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.HoldBack(sim.Build)
		r.SendBack(d, "somebody else")
		r.Undo(first.TxID)
		r.Step()
		r.Chain.ClearFaults()
		r.Trouble = false
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.Settle()
		r.wantSender("sender", first.Amount.String())
		r.wantSender("somebody else", "0")
		r.WantBooks("0", "0", "0")
		r.Must(r.Audit())
	})
}

// While an earlier refund of a deposit may be paid, the deposit cannot be resolved.
func TestNothingIsResolvedWhileAnEarlierRefundMayBePaid(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.Undo(first.TxID)
		r.stepUntilOpen(d)
		if _, err := r.Unattributed().Keep(ctx, d.ID, "mine"); !errors.Is(err, unattributed.ErrNotFinal) {
			t.Fatalf("it was decided: %v, want %v", err, unattributed.ErrNotFinal)
		}
		r.Settle()
		r.wantSender("sender", first.Amount.String())
		r.WantBooks("0", "0", "0")
		if _, err := r.Unattributed().Keep(ctx, d.ID, "mine"); err == nil {
			t.Error("what was paid back was kept as well, want an error")
		}
		r.Must(r.Audit())
	})
}

// A deposit that was kept, and then refunded by the earlier refund after all, is the operator's loss, and raises an
// alarm; if the refund fails again on the next branch, the loss is undone.
func TestADepositPaidOutTwiceIsALoss(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		if _, err := r.Unattributed().Keep(ctx, d.ID, "mine"); err != nil {
			t.Fatal(err)
		}
		r.Undo(first.TxID)
		r.Step()
		r.Settle()
		r.WantBooks("0", "0", first.Amount.String())
		r.WantAlarms("refund_paid_twice", "deep_reorg")
		r.Must(r.Audit())
		r.Chain.Close(r.Chain.Named("sender"))
		r.Undo(first.TxID)
		r.Step()
		r.Settle()
		r.WantBooks("0", "0", "0")
		r.Must(r.Audit())
	})
}

// A refund of a token that moved nothing is undone with its block as it was booked: nothing was booked as paid, so
// nothing is undone, and on the next branch the same is booked as nothing again.
func TestARefundThatDeliveredNothingIsUndoneAsItWasBooked(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		pays := func(to bursar.Address, units uint64) string {
			return r.Chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(units)})
		}
		pays(bursar.Address{Base: r.Hot.Base}, 80_000_000)
		id := pays(r.Wallet(0).Address, 50_000_000) // a wallet of COIN
		r.Settle()
		d := r.StrandedBy(id)
		r.Chain.SetManners(token.Contract, sim.Manners{False: true})
		_, err := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("sender")})
		r.Must(err)
		r.Settle()
		n := r.Resolution(d)
		want := r.tokenBooks(token)
		for range 2 {
			r.Undo(n.TxID)
			r.stepUntilOpen(d)
			if got := r.tokenBooks(token); got != want {
				t.Errorf("with its block gone the books say %s, before %s", got, want)
			}
			r.Blocks(12)
			if got := r.tokenBooks(token); got != want {
				t.Errorf("included again the books say %s, before %s", got, want)
			}
			if got := r.Resolution(d); got.Status != bursar.ResolutionFailed {
				t.Errorf("the decision is %s, want %s", got.Status, bursar.ResolutionFailed)
			}
			r.Must(r.Reconcile())
		}
		r.Chain.SetManners(token.Contract, sim.Manners{})
		r.Undo(n.TxID)
		r.stepUntilOpen(d)
		r.Blocks(12)
		if got := r.Chain.Balance(r.Chain.Named("sender"), token.Contract); got != n.Amount {
			t.Errorf("on the branch where it delivers the sender got %s, want %s", got, n.Amount)
		}
		if got := r.Resolution(d); got.Status != bursar.ResolutionDone {
			t.Errorf("on the branch where it delivers the decision is %s, want %s", got.Status, bursar.ResolutionDone)
		}
		r.Must(r.Reconcile())
	})
}

// tokenBooks returns the operator's accounts of a token.
func (r *harness) tokenBooks(token bursar.Currency) (text string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		for _, a := range []ledger.Account{ledger.Unattributed, ledger.Refunding, ledger.Losses, ledger.Custody} {
			b, err := tx.Ledger().Balance(ctx, a, token.Code)
			if err != nil {
				return err
			}
			net, negative := b.Net(a.Type())
			text += fmt.Sprintf("%s %s (below zero: %v) ", a, net, negative)
		}
		return nil
	})
	return text
}

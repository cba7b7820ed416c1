package outgoing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
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
	r.t.Helper()
	if got := r.chain.Balance(r.chain.Named(name), ""); got.String() != want {
		r.t.Errorf("%s holds %s, want %s", name, got, want)
	}
}

// stepUntilOpen lets the follower undo blocks until the refund of a deposit is in none.
func (r *harness) stepUntilOpen(d bursar.Deposit) {
	r.t.Helper()
	for range 50 {
		_, err := r.follower.Step(ctx, r.lease)
		r.must(err)
		open := false
		r.view(func(tx *store.Tx) error {
			open, err = tx.Resolutions().OpenRefund(ctx, d.ID, 0)
			return err
		})
		if open {
			return
		}
	}
	r.t.Fatal("its block is still on the chain")
}

// A refund that was paid and fails on the branch that follows makes its deposit unattributed again, and is paid when
// that branch is reorged out as well.
func TestAPaidRefundThatFailsAfterAll(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d := r.astray()
		n := r.sendBack(d, "sender")
		r.settle()
		r.wantSender("sender", n.Amount.String())
		r.wantBooks("0", "0", "0")
		r.chain.Close(r.chain.Named("sender"))
		r.undo(r.resolution(d).TxID)
		r.stepUntilOpen(d)
		if got := r.resolution(d); got.Status != bursar.ResolutionSigned || !got.CompletedAt.IsZero() {
			t.Errorf("while no block is final, the decision is %+v", got)
		}
		r.wantBooks("0", "80000000", "0")
		r.settle()
		if got := r.resolution(d); got.Status != bursar.ResolutionFailed {
			t.Errorf("the decision is %+v", got)
		}
		r.wantBooks("80000000", "0", "0")
		r.wantAlarms("unattributed", "deep_reorg")
		r.must(r.audit())
		r.chain.Open(r.chain.Named("sender"))
		r.undo(r.resolution(d).TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", "0")
		r.wantSender("sender", n.Amount.String())
		if got := r.resolution(d); got.Status != bursar.ResolutionDone {
			t.Errorf("the decision is %+v", got)
		}
		r.must(r.audit())
		r.chain.Close(r.chain.Named("sender"))
		r.undo(r.resolution(d).TxID)
		r.step()
		r.settle()
		r.wantBooks("80000000", "0", "0")
		r.must(r.audit())
	})
}

// failedRefund has a refund whose transaction is final and has failed.
func (r *harness) failedRefund() (bursar.Deposit, bursar.Resolution) {
	r.t.Helper()
	d := r.astray()
	r.chain.Close(r.chain.Named("sender"))
	r.sendBack(d, "sender")
	r.settle()
	r.wantBooks("80000000", "0", "0")
	n := r.resolution(d)
	r.chain.Open(r.chain.Named("sender"))
	return d, n
}

// A failed refund whose deposit was resolved again waits until its block is final again: nothing is resolved or signed
// meanwhile that would pay the same value twice.
func TestAFailedRefundThatPaysAfterAllIsNotPaidTwice(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.holdBack(sim.Build)
		r.sendBack(d, "somebody else")
		r.undo(first.TxID)
		r.step()
		r.chain.ClearFaults()
		r.trouble = false
		for range 12 {
			r.chain.Mine(1)
			r.step()
		}
		r.settle()
		r.wantSender("sender", first.Amount.String())
		r.wantSender("somebody else", "0")
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}

// While an earlier refund of a deposit may be paid, the deposit cannot be resolved.
func TestNothingIsResolvedWhileAnEarlierRefundMayBePaid(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.undo(first.TxID)
		r.stepUntilOpen(d)
		if _, err := r.unattributed().Keep(ctx, d.ID, "mine"); !errors.Is(err, unattributed.ErrNotFinal) {
			t.Fatalf("it was decided: %v", err)
		}
		r.settle()
		r.wantSender("sender", first.Amount.String())
		r.wantBooks("0", "0", "0")
		if _, err := r.unattributed().Keep(ctx, d.ID, "mine"); err == nil {
			t.Error("what was paid back was kept as well")
		}
		r.must(r.audit())
	})
}

// A deposit that was kept, and then refunded by the earlier refund after all, is the operator's loss, and raises an
// alarm; if the refund fails again on the next branch, the loss is undone.
func TestADepositPaidOutTwiceIsALoss(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		if _, err := r.unattributed().Keep(ctx, d.ID, "mine"); err != nil {
			t.Fatal(err)
		}
		r.undo(first.TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", first.Amount.String())
		r.wantAlarms("refund_paid_twice", "deep_reorg")
		r.must(r.audit())
		r.chain.Close(r.chain.Named("sender"))
		r.undo(first.TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}

// A refund of a token that moved nothing is undone with its block as it was booked: nothing was booked as paid, so
// nothing is undone, and on the next branch the same is booked as nothing again.
func TestARefundThatDeliveredNothingIsUndoneAsItWasBooked(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		pays := func(to bursar.Address, units uint64) string {
			return r.chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(units)})
		}
		pays(bursar.Address{Base: r.hot.Base}, 80_000_000)
		id := pays(r.wallet(0).Address, 50_000_000) // a wallet of COIN
		r.settle()
		d := r.strandedBy(id)
		r.chain.SetManners(token.Contract, sim.Manners{False: true})
		_, err := r.unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("sender")})
		r.must(err)
		r.settle()
		n := r.resolution(d)
		want := r.tokenBooks(token)
		for range 2 {
			r.undo(n.TxID)
			r.stepUntilOpen(d)
			if got := r.tokenBooks(token); got != want {
				t.Errorf("with its block gone the books say %s, before %s", got, want)
			}
			r.blocks(12)
			if got := r.tokenBooks(token); got != want {
				t.Errorf("included again the books say %s, before %s", got, want)
			}
			if got := r.resolution(d); got.Status != bursar.ResolutionFailed {
				t.Errorf("the decision is %s", got.Status)
			}
			r.must(r.reconcile())
		}
		r.chain.SetManners(token.Contract, sim.Manners{})
		r.undo(n.TxID)
		r.stepUntilOpen(d)
		r.blocks(12)
		if got := r.chain.Balance(r.chain.Named("sender"), token.Contract); got != n.Amount {
			t.Errorf("on the branch where it delivers the sender got %s", got)
		}
		if got := r.resolution(d); got.Status != bursar.ResolutionDone {
			t.Errorf("on the branch where it delivers the decision is %s", got.Status)
		}
		r.must(r.reconcile())
	})
}

// tokenBooks returns the operator's accounts of a token.
func (r *harness) tokenBooks(token bursar.Currency) (text string) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
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

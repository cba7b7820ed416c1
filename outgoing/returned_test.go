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

// Returns before and after a reorganisation deeper than finality.

var memoed = sim.Config{ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel, Confirmations: 3,
	SharedAddress: true}

func (r *harness) wantSender(name, want string) {
	r.t.Helper()
	if got := r.chain.Balance(r.chain.Named(name), ""); got.String() != want {
		r.t.Errorf("%s holds %s, want %s", name, got, want)
	}
}

// stepUntilOpen has the follower take back blocks until the return of a deposit is in none.
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

// A return that was paid and fails on the branch that follows is unattributed again, and is paid when that branch goes
// as well.
func TestAPaidReturnThatFailsAfterAll(t *testing.T) {
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
		r.wantAlarms("unattributed", "deep_reorganisation")
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

// failedReturn is a return whose transaction is final and has failed.
func (r *harness) failedReturn() (bursar.Deposit, bursar.Resolution) {
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

// A failed return that was decided about again waits until its block is final again: nothing is decided or signed
// meanwhile that would pay the same value twice.
func TestAFailedReturnThatPaysAfterAllIsNotPaidTwice(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedReturn()
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

// While an earlier return of it may be paid, value is not decided about.
func TestNothingIsDecidedWhileAnEarlierReturnMayBePaid(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedReturn()
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

// Value that was kept, and then paid back by the earlier return after all, is the operator's loss, and is told of; on
// the next branch, where that fails again, it is none.
func TestWhatIsGivenTwiceIsALoss(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedReturn()
		if _, err := r.unattributed().Keep(ctx, d.ID, "mine"); err != nil {
			t.Fatal(err)
		}
		r.undo(first.TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", first.Amount.String())
		r.wantAlarms("return_paid_twice", "deep_reorganisation")
		r.must(r.audit())
		r.chain.Close(r.chain.Named("sender"))
		r.undo(first.TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}

// A return of a token that moved nothing is undone with its block as it was done: nothing was booked as paid, so
// nothing is taken back, and on the next branch the same is booked as nothing again.
func TestAReturnThatDeliveredNothingIsUndoneAsItWasDone(t *testing.T) {
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
		_, err := r.unattributed().Return(ctx, unattributed.Return{Deposit: d.ID, To: r.chain.Named("sender")})
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

// tokenBooks is what the operator's side of the books holds of a token.
func (r *harness) tokenBooks(token bursar.Currency) (text string) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		for _, a := range []ledger.Account{ledger.Unattributed, ledger.Returning, ledger.Losses, ledger.Custody} {
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

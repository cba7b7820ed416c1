package outgoing_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// unswept runs a test on a chain of the UTXO model and on one where wallets share the hot wallet's address: value there
// can be refunded without a sweep, which a reorg would leave hanging.
func unswept(t *testing.T, test func(t *testing.T, r *harness)) {
	for name, config := range map[string]sim.Config{
		"coins":  {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 3, MaxPayments: 5},
		"shared": {ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel, Confirmations: 3, SharedAddress: true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, newHarness(t, db, config)) })
		})
	}
}

// astray makes an unattributed deposit, inferred or with a memo that no wallet has, beside operator funds that were
// kept.
func (r *harness) astray() bursar.Deposit {
	r.t.Helper()
	r.step()
	to := r.wallet(0).Address
	capital := r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	r.chain.Mine(3)
	r.step()
	if r.chain.Capabilities().SharedAddress {
		if _, err := r.unattributed().Keep(ctx, r.strandedBy(capital).ID, "capital"); err != nil {
			r.t.Fatal(err)
		}
		to.Memo = 4_000_000_000
	}
	id := r.chain.Send(sim.Outside{Payments: []chain.Payment{{Address: to, Amount: bursar.Units(80_000_000)}},
		Inferred: !to.HasMemo})
	r.chain.Mine(3)
	r.step()
	return r.strandedBy(id)
}

// A deposit that is reorged out before its refund is signed is not refunded, whether the refund is unsigned or waits
// for its signature. When the deposit is included again, it is resolved again.
func TestADepositReorgedOutBeforeItsRefundIsSignedIsNotRefunded(t *testing.T) {
	for _, held := range []sim.Method{sim.Build, ""} {
		unswept(t, func(t *testing.T, r *harness) {
			d := r.astray()
			r.sendBack(d, "sender")
			r.holdBack(held)
			r.chain.Reorg(3, d.TxID)
			r.step()
			r.chain.ClearFaults()
			r.restart()
			r.settle()
			if got := r.chain.Balance(r.chain.Named("sender"), ""); !got.IsZero() {
				t.Fatalf("%s was paid back of what is not there", got)
			}
			if n := r.resolution(d); n.Status != bursar.ResolutionFailed {
				t.Errorf("the decision is %+v", n)
			}
			r.wantBooks("0", "0", "0")
			r.wantAlarms()
			r.must(r.audit())
			r.chain.Restore(d.TxID)
			r.settle()
			r.wantBooks("80000000", "0", "0")
			r.wantAlarms("unattributed")
			n := r.sendBack(d, "sender")
			r.settle()
			if got := r.chain.Balance(r.chain.Named("sender"), ""); got != n.Amount {
				t.Errorf("the sender got %s of %s", got, n.Amount)
			}
			r.must(r.audit())
		})
	}
}

// A deposit that is reorged out while its refund is being signed is not refunded either: the signature is discarded.
func TestASignatureThatComesTooLateIsDiscarded(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.astray()
		r.sendBack(d, "sender")
		real, signed := r.sender.Signer, false
		r.sender.Signer = signerFunc(func(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
			unsigned chain.UnsignedTx) (chain.SignedTx, error) {
			out, err := real.Sign(ctx, id, request, unsigned)
			if request.Kind == chain.KindWithdrawal && !signed {
				signed = true
				r.chain.Reorg(3, d.TxID)
				for more := true; more && err == nil; {
					more, err = r.follower.Step(ctx, r.lease)
				}
			}
			return out, err
		})
		for i := 0; i < 5 && !signed; i++ {
			r.step()
		}
		r.settle()
		if n := r.resolution(d); !signed || n.Status != bursar.ResolutionFailed || n.TxID != "" {
			t.Errorf("signed %v, the decision is %+v", signed, n)
		}
		if got := r.chain.Balance(r.chain.Named("sender"), ""); !got.IsZero() {
			t.Errorf("%s was paid back of what is not there", got)
		}
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}

// A deposit that is reorged out after it was refunded is the operator's loss, never a customer's; and no loss once it
// is included again.
func TestADepositReorgedOutAfterItsRefundIsALoss(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(1)
		r.pay(w.Address, 10_000_000)
		r.chain.Mine(3)
		r.step()
		before := r.available(1)
		d := r.astray()
		n := r.sendBack(d, "sender")
		r.settle()
		head, err := r.chain.Head(ctx)
		r.must(err)
		r.chain.Reorg(int(head.Latest.Height-d.Height)+1, d.TxID)
		r.step()
		if got := r.deposit(d.ID); got.Status != bursar.DepositReversed || got.Purpose != bursar.ForRefunded {
			t.Fatalf("the deposit is %s for %s", got.Status, got.Purpose)
		}
		r.wantBooks("0", "0", "80000000")
		kinds := map[string]bool{}
		for _, kind := range r.alarms() {
			kinds[kind] = true
		}
		if !kinds["refund_uncovered"] || kinds["unattributed"] || kinds["deposit_reversed"] {
			t.Errorf("the alarms are %v", kinds)
		}
		r.chain.Restore(d.TxID)
		r.settle()
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender got %s of %s", got, n.Amount)
		}
		r.wantBooks("0", "0", "0")
		for _, kind := range r.alarms() {
			if kind == "refund_uncovered" {
				t.Error("the alarm outlives its cause")
			}
		}
		if got := r.available(1); got != before {
			t.Errorf("a customer's balance went from %s to %s", before, got)
		}
		r.must(r.audit())
	})
}

// A loss that remains is booked to its account, and custody is still what the chain holds.
func TestALossThatStaysIsExplained(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		if r.chain.Capabilities().Model == chain.UTXOModel {
			return // there the payment may use the very UTXO that is gone, and then it is gone too
		}
		d := r.astray()
		r.sendBack(d, "sender")
		r.settle()
		head, err := r.chain.Head(ctx)
		r.must(err)
		r.chain.Reorg(int(head.Latest.Height-d.Height)+1, d.TxID)
		r.settle()
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != r.resolution(d).Amount {
			t.Fatalf("the sender got %s", got)
		}
		r.wantBooks("0", "0", "80000000")
		r.must(r.audit())
	})
}

// A refund that is signed when its deposit is reorged out may be paid: the loss is booked. If it is not paid in the
// end, the loss is undone, and the deposit is resolved again when it is included again.
func TestALossIsUndoneWhenTheRefundFails(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		if r.chain.Capabilities().Model == chain.UTXOModel {
			return // a transaction of UTXOs cannot fail in a block
		}
		d := r.astray()
		r.sendBack(d, "closes its door")
		r.chain.SetRate(10_000) // it stays unconfirmed
		r.step()
		if n := r.resolution(d); n.Status != bursar.ResolutionSigned {
			t.Fatalf("the decision is %+v", n)
		}
		r.chain.Reorg(3, d.TxID)
		r.step()
		r.wantBooks("0", "80000000", "80000000")
		r.must(r.reconcile())
		r.chain.Close(r.chain.Named("closes its door"))
		r.chain.SetRate(10)
		r.settle()
		if n := r.resolution(d); n.Status != bursar.ResolutionFailed {
			t.Errorf("the decision is %+v", n)
		}
		r.wantBooks("0", "0", "0")
		r.wantAlarms()
		r.must(r.audit())
		r.chain.Restore(d.TxID)
		r.settle()
		r.wantBooks("80000000", "0", "0")
		r.wantAlarms("unattributed")
		r.must(r.audit())
	})
}

// An unresolved deposit that is reorged out leaves no alarm, and raises it again when it is included again. One that
// was kept is taken from the operator funds.
func TestUnresolvedAndKeptDepositsMayBeReorgedOut(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		open, kept := r.payUnproven(w, 80_000_000), r.payUnproven(w, 70_000_000)
		r.chain.Mine(3)
		r.step()
		if _, err := r.unattributed().Keep(ctx, r.strandedBy(kept).ID, ""); err != nil {
			t.Fatal(err)
		}
		r.wantAlarms("unattributed")
		r.chain.Reorg(3, open, kept)
		r.step()
		r.wantAlarms()
		if r.book(ledger.Capital) != "0" {
			t.Errorf("capital is %s", r.book(ledger.Capital))
		}
		r.must(r.audit())
		r.chain.Restore(open, kept)
		r.chain.Mine(1)
		r.step()
		r.wantAlarms("unattributed")
		r.chain.Reorg(1, open)
		r.step()
		r.wantAlarms()
		r.chain.Restore(open)
		r.settle()
		if r.book(ledger.Capital) != "70000000" {
			t.Errorf("capital is %s", r.book(ledger.Capital))
		}
		r.wantBooks("80000000", "0", "0")
		r.must(r.audit())
	})
}

// If wallets share an address, a payment without a memo is unattributed until it is resolved, also beside memo 0; and
// then it is credited like any deposit.
func TestADepositWithoutAMemoIsAssigned(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		if !r.chain.Capabilities().SharedAddress {
			return
		}
		r.step()
		w := r.wallet(0)
		bare, tagged := r.pay(bursar.Address{Base: r.hot.Base}, 80_000_000), r.pay(w.Address, 1_000_000)
		r.chain.Mine(3)
		r.step()
		if got := r.available(0); got != bursar.Units(990_000) {
			t.Fatalf("before a decision %s is available, by %s", got, tagged)
		}
		if _, err := r.unattributed().AssignToWallet(ctx, r.strandedBy(bare).ID, w.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := r.available(0); got != bursar.Units(80_190_000) {
			t.Errorf("%s is available", got)
		}
		r.wantEvents(0, bursar.EventDeposit, bursar.EventDeposit)
		order, err := r.withdraw(0, 60_000_000, r.chain.Named("outside"))
		r.must(err)
		r.settle()
		if got := r.chain.Balance(r.chain.Named("outside"), ""); got != order.Amount {
			t.Errorf("the receiver got %s", got)
		}
		r.must(r.audit())
	})
}

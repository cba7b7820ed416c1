package outgoing_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// A deposit that is reorged out before its refund is signed is not refunded, whether the refund is unsigned or waits
// for its signature. When the deposit is included again, it is resolved again.
func TestADepositReorgedOutBeforeItsRefundIsSignedIsNotRefunded(t *testing.T) {
	for _, held := range []sim.Method{sim.Build, ""} {
		unswept(t, func(t *testing.T, r *harness) {
			d := r.Astray()
			r.SendBack(d, "sender")
			r.HoldBack(held)
			r.Chain.Reorg(3, d.TxID)
			r.Step()
			r.Chain.ClearFaults()
			r.Restart()
			r.Settle()
			if got := r.Chain.Balance(r.Chain.Named("sender"), ""); !got.IsZero() {
				t.Fatalf("%s was paid back of what is not there, want 0", got)
			}
			if n := r.Resolution(d); n.Status != bursar.ResolutionFailed {
				t.Errorf("the decision is %+v, want %v", n, bursar.ResolutionFailed)
			}
			r.WantBooks("0", "0", "0")
			r.WantAlarms()
			r.Must(r.Audit())
			r.Chain.Restore(d.TxID)
			r.Settle()
			r.WantBooks("80000000", "0", "0")
			r.WantAlarms("unattributed")
			n := r.SendBack(d, "sender")
			r.Settle()
			if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
				t.Errorf("the sender got %s of %s", got, n.Amount)
			}
			r.Must(r.Audit())
		})
	}
}

// A deposit that is reorged out while its refund is being signed is not refunded either: the signature is discarded.
func TestASignatureThatComesTooLateIsDiscarded(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.Astray()
		r.SendBack(d, "sender")
		real, signed := r.Sender.Signer, false
		r.Sender.Signer = bursartest.SignerFunc(func(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
			unsigned chain.UnsignedTx) (chain.SignedTx, error) {
			out, err := real.Sign(ctx, id, request, unsigned)
			if request.Kind == chain.KindWithdrawal && !signed {
				signed = true
				r.Chain.Reorg(3, d.TxID)
				for more := true; more && err == nil; {
					more, err = r.Follower.Step(ctx, r.Lease)
				}
			}
			return out, err
		})
		for i := 0; i < 5 && !signed; i++ {
			r.Step()
		}
		r.Settle()
		if n := r.Resolution(d); !signed || n.Status != bursar.ResolutionFailed || n.TxID != "" {
			t.Errorf("signed %v, the decision is %+v", signed, n)
		}
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); !got.IsZero() {
			t.Errorf("%s was paid back of what is not there, want 0", got)
		}
		r.WantBooks("0", "0", "0")
		r.Must(r.Audit())
	})
}

// A deposit that is reorged out after it was refunded is the operator's loss, never a customer's; and no loss once it
// is included again.
func TestADepositReorgedOutAfterItsRefundIsALoss(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(1)
		r.Pay(w.Address, 10_000_000)
		r.Chain.Mine(3)
		r.Step()
		before := r.Available(1)
		d := r.Astray()
		n := r.SendBack(d, "sender")
		r.Settle()
		head, err := r.Chain.Head(ctx)
		r.Must(err)
		r.Chain.Reorg(int(head.Latest.Height-d.Height)+1, d.TxID)
		r.Step()
		if got := r.Deposit(d.ID); got.Status != bursar.DepositReversed || got.Purpose != bursar.ForRefunded {
			t.Fatalf("the deposit is %s for %s, want %s and %s",
				got.Status, got.Purpose, bursar.DepositReversed, bursar.ForRefunded)
		}
		r.WantBooks("0", "0", "80000000")
		kinds := map[string]bool{}
		for _, kind := range r.Alarms() {
			kinds[kind] = true
		}
		if !kinds["refund_uncovered"] || kinds["unattributed"] || kinds["deposit_reversed"] {
			t.Errorf("the alarms are %v", kinds)
		}
		r.Chain.Restore(d.TxID)
		r.Settle()
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender got %s of %s", got, n.Amount)
		}
		r.WantBooks("0", "0", "0")
		for _, kind := range r.Alarms() {
			if kind == "refund_uncovered" {
				t.Errorf("the alarm outlives its cause, want not %q", "refund_uncovered")
			}
		}
		if got := r.Available(1); got != before {
			t.Errorf("a customer's balance went from %s to %s", before, got)
		}
		r.Must(r.Audit())
	})
}

// A refund that is signed when its deposit is reorged out may be paid: the loss is booked. If it is not paid in the
// end, the loss is undone, and the deposit is resolved again when it is included again.
func TestALossIsUndoneWhenTheRefundFails(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			return // a transaction of UTXOs cannot fail in a block
		}
		d := r.Astray()
		r.SendBack(d, "closes its door")
		r.Chain.SetRate(10_000) // it stays unconfirmed
		r.Step()
		if n := r.Resolution(d); n.Status != bursar.ResolutionSigned {
			t.Fatalf("the decision is %+v, want %v", n, bursar.ResolutionSigned)
		}
		r.Chain.Reorg(3, d.TxID)
		r.Step()
		r.WantBooks("0", "80000000", "80000000")
		r.Must(r.Reconcile())
		r.Chain.Close(r.Chain.Named("closes its door"))
		r.Chain.SetRate(10)
		r.Settle()
		if n := r.Resolution(d); n.Status != bursar.ResolutionFailed {
			t.Errorf("the decision is %+v, want %v", n, bursar.ResolutionFailed)
		}
		r.WantBooks("0", "0", "0")
		r.WantAlarms()
		r.Must(r.Audit())
		r.Chain.Restore(d.TxID)
		r.Settle()
		r.WantBooks("80000000", "0", "0")
		r.WantAlarms("unattributed")
		r.Must(r.Audit())
	})
}

package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// A running sender carries a payment from its request to a node without any manual step, and wakes the event worker.
func TestARunningSenderPays(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		running, cancel := context.WithCancel(ctx)
		settled, ended := make(chan struct{}, 100), make(chan error, 1)
		r.Sender.EventsRecorded, r.Sender.Pace = func() { settled <- struct{}{} }, 1
		go func() { ended <- r.Sender.Run(running, r.Lease) }()
		<-settled
		if got := r.Now(w); got.Status != bursar.WithdrawalBroadcast {
			t.Errorf("when a node has taken it, the withdrawal is %s, want %s", got.Status, bursar.WithdrawalBroadcast)
		}
		r.Chain.Mine(3)
		r.CatchUp()
		<-settled
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed {
			t.Errorf("when its block is final, the withdrawal is %s, want %s", got.Status, bursar.WithdrawalConfirmed)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v, want %v", err, context.Canceled)
		}
	})
}

// A process that lost the lease before a payment is settled returns that error and does nothing else: another one goes
// on.
func TestALeaseThatIsLostEndsTheStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Chain.Mine(4)
		r.CatchUp()
		r.overthrow()
		builds := &asked{Chain: r.Chain}
		r.Sender.Chain = builds
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalBroadcast || builds.builds > 0 {
			t.Errorf("the withdrawal is %s, %d transactions were drafted, want %v and at most 0", got.Status, builds.builds,
				bursar.WithdrawalBroadcast)
		}
	})
}

// Payments do not wait for each other's blocks: the second is built on the change of the first, which is in no block
// yet.
func TestAPaymentIsBuiltOnTheChangeOfOneThatIsInNoBlock(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(3)
		r.Step()
		first := r.Order(100_000_000, r.Chain.Named("one"))
		r.Step()
		second := r.Order(100_000_000, r.Chain.Named("two"))
		r.Step()
		if a, b := r.Now(first), r.Now(second); a.Status != bursar.WithdrawalBroadcast ||
			b.Status != bursar.WithdrawalBroadcast || a.TxID == b.TxID {
			t.Errorf("before any block the first is %s and the second %s", a.Status, b.Status)
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// A signer that its operator has halted refuses everything. That raises no alarm about each payment: they wait, and are
// paid once it signs again.
func TestAHaltedSignerRaisesNoAlarm(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		real := r.Sender.Signer
		r.Sender.Signer = bursartest.SignerFunc(func(context.Context, bursar.ChainID, chain.TxRequest,
			chain.UnsignedTx) (chain.SignedTx,
			error) {
			return chain.SignedTx{}, &signer.RefusalError{Reason: signer.ReasonHalted}
		})
		r.Step()
		r.WantAlarms()
		open := r.Open()
		if len(open) != 1 || open[0].Status != bursar.OutgoingNew || open[0].Error == "" {
			t.Errorf("what is open is %+v, want 1 of them and %v and not %q", open, bursar.OutgoingNew, "")
		}
		r.Sender.Signer = real
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Must(r.Audit())
	})
}

// If a UTXO is reorged out while a transaction that uses it is built, nothing is reserved, and the payment is made from
// other UTXOs.
func TestATransactionOverAUTXOThatIsReorgedOutIsDropped(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 300_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
		r.Chain.Mine(3)
		r.Step()
		gone := r.Pay(r.Wallet(1).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		w := r.Order(200_000_000, r.Chain.Named("outside"))
		building := &asked{Chain: r.Chain}
		building.meanwhile = func() {
			building.meanwhile = nil
			r.Undo(gone, gone)
			r.Chain.Mine(1)
			r.CatchUp()
		}
		r.Sender.Chain = building
		r.Trouble = true
		r.Check(r.Sender.Step(ctx, r.Lease))
		if got := r.Now(w); got.TxID != "" || building.sent > 0 {
			t.Errorf("it was signed as %q and sent %d times, want %q and at most 0", got.TxID, building.sent, "")
		}
		r.wantUnreserved("a UTXO was reorged out while the transaction was built")
		r.resumeAll()
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}

// Signed bytes that were not sent to any node expire while a halt holds them. Their payments are requeued, and are made
// once after the halt.
func TestSignedBytesThatExpireDuringAHaltPayNobody(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		r.Settle()
		w := r.Order(300_000_000, to)
		halt := byAnn(store.HaltChain(r.Chain.Capabilities().ID))
		r.Sender.Chain = &sentNowhere{asked{Chain: r.Chain}}
		r.Trouble = true
		r.Step()
		first := r.Now(w)
		if first.Status != bursar.WithdrawalSigned {
			t.Fatalf("the withdrawal is %s, want %s", first.Status, bursar.WithdrawalSigned)
		}
		r.Sender.Chain = r.Chain
		r.Halt(halt)
		r.Blocks(12)
		if got := r.Now(w); got.Status != bursar.WithdrawalQueued || got.TxID != "" {
			t.Errorf("after they expired the withdrawal is %s by %q, want %s and \"\"",
				got.Status, got.TxID, bursar.WithdrawalQueued)
		}
		r.NothingOpen()
		r.Resume(halt)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if r.Now(w).TxID == first.TxID {
			t.Error("it was paid by bytes that had expired")
		}
	})
}

// sentNowhere is a chain whose nodes do not answer a broadcast.
type sentNowhere struct{ asked }

func (*sentNowhere) Broadcast(context.Context, chain.SignedTx) error {
	return errors.New("no node accepts it")
}

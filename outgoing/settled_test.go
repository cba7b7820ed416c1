package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// A running sender carries a payment from its request to a node without any manual step, and wakes the event worker.
func TestARunningSenderPays(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("outside"))
		running, cancel := context.WithCancel(ctx)
		settled, ended := make(chan struct{}, 100), make(chan error, 1)
		r.sender.Settled, r.sender.Pace = func() { settled <- struct{}{} }, 1
		go func() { ended <- r.sender.Run(running, r.lease) }()
		<-settled
		if got := r.now(w); got.Status != bursar.WithdrawalBroadcast {
			t.Errorf("when a node has taken it, it is %s", got.Status)
		}
		r.chain.Mine(3)
		r.catchUp()
		<-settled
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed {
			t.Errorf("when its block is final, it is %s", got.Status)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// A process that lost the lease before a payment is settled returns that error and does nothing else: another one goes
// on.
func TestALeaseThatIsLostEndsTheStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		r.chain.Mine(4)
		r.catchUp()
		r.overthrow()
		builds := &asked{Chain: r.chain}
		r.sender.Chain = builds
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v", err)
		}
		if got := r.now(w); got.Status != bursar.WithdrawalBroadcast || builds.builds > 0 {
			t.Errorf("the withdrawal is %s, %d transactions were drafted", got.Status, builds.builds)
		}
	})
}

// Payments do not wait for each other's blocks: the second is built on the change of the first, which is in no block
// yet.
func TestAPaymentIsBuiltOnTheChangeOfOneThatIsInNoBlock(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(3)
		r.step()
		first := r.order(100_000_000, r.chain.Named("one"))
		r.step()
		second := r.order(100_000_000, r.chain.Named("two"))
		r.step()
		if a, b := r.now(first), r.now(second); a.Status != bursar.WithdrawalBroadcast ||
			b.Status != bursar.WithdrawalBroadcast || a.TxID == b.TxID {
			t.Errorf("before any block the first is %s and the second %s", a.Status, b.Status)
		}
		r.settle()
		r.must(r.audit())
	})
}

// A signer that its operator has halted refuses everything. That raises no alarm about each payment: they wait, and are
// paid once it signs again.
func TestAHaltedSignerRaisesNoAlarm(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("outside"))
		real := r.sender.Signer
		r.sender.Signer = signerFunc(func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx,
			error) {
			return chain.SignedTx{}, &signer.RefusalError{Reason: signer.ReasonHalted}
		})
		r.step()
		r.wantAlarms()
		open := r.open()
		if len(open) != 1 || open[0].Status != bursar.OutgoingNew || open[0].Error == "" {
			t.Errorf("what is open is %+v", open)
		}
		r.sender.Signer = real
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", got)
		}
		r.must(r.audit())
	})
}

// If a UTXO is reorged out while a transaction that uses it is built, nothing is reserved, and the payment is made from
// other UTXOs.
func TestATransactionOverAUTXOThatIsReorgedOutIsDropped(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 300_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 700_000_000)
		r.chain.Mine(3)
		r.step()
		gone := r.pay(r.wallet(1).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		w := r.order(200_000_000, r.chain.Named("outside"))
		building := &asked{Chain: r.chain}
		building.meanwhile = func() {
			building.meanwhile = nil
			r.undo(gone, gone)
			r.chain.Mine(1)
			r.catchUp()
		}
		r.sender.Chain = building
		r.trouble = true
		r.check(r.sender.Step(ctx, r.lease))
		if got := r.now(w); got.TxID != "" || building.sent > 0 {
			t.Errorf("it was signed as %q and sent %d times", got.TxID, building.sent)
		}
		r.wantUnreserved("a UTXO was reorged out while the transaction was built")
		r.resumeAll()
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", got)
		}
	})
}

// Signed bytes that were not sent to any node expire while a halt holds them. Their payments are requeued, and are made
// once after the halt.
func TestSignedBytesThatExpireDuringAHaltPayNobody(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		r.settle()
		w := r.order(300_000_000, to)
		halt := byAnn(store.HaltChain(r.chain.Capabilities().ID))
		r.sender.Chain = &sentNowhere{asked{Chain: r.chain}}
		r.trouble = true
		r.step()
		first := r.now(w)
		if first.Status != bursar.WithdrawalSigned {
			t.Fatalf("it is %s", first.Status)
		}
		r.sender.Chain = r.chain
		r.halt(halt)
		r.blocks(12)
		if got := r.now(w); got.Status != bursar.WithdrawalQueued || got.TxID != "" {
			t.Errorf("after they expired it is %s by %q", got.Status, got.TxID)
		}
		r.nothingOpen()
		r.resume(halt)
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		if r.now(w).TxID == first.TxID {
			t.Error("it was paid by bytes that had expired")
		}
	})
}

// sentNowhere is a chain whose nodes do not answer a broadcast.
type sentNowhere struct{ asked }

func (*sentNowhere) Broadcast(context.Context, chain.SignedTx) error {
	return errors.New("no node takes it")
}

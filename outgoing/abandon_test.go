package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
)

// abandoned has a payment requested, sent and made void by an operator. It returns the withdrawal as it was, and its
// outgoing transaction.
func (r *harness) abandoned() (w bursar.Withdrawal, before bursar.Amount, to string) {
	r.t.Helper()
	before, to = r.prepare(), r.chain.Named("outside")
	w = r.order(300_000_000, to)
	r.step()
	w = r.now(w)
	_, err := r.sender.Abandon(ctx, w.OutgoingID, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
	r.must(err)
	return w, before, to
}

// once checks that the receiver of a withdrawal was paid once and that nothing is open.
func (r *harness) once(w bursar.Withdrawal, before bursar.Amount, to string) {
	r.t.Helper()
	r.settle()
	r.ends(w, to, bursar.WithdrawalConfirmed, before)
	r.nothingOpen()
}

// A transaction that is made void is paid again once the voiding transaction is final, and not before.
func TestAnAbandonedTransactionIsPaidAgainOnceItIsVoid(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		r.step()
		r.chain.Mine(1)
		r.step()
		if got := r.now(w); got.OutgoingID != w.OutgoingID {
			t.Fatalf("it is paid again before the proof is final: %+v", got)
		}
		r.once(w, before, to)
		if got := r.now(w); got.OutgoingID == w.OutgoingID {
			t.Error("it was paid by the transaction that was made void")
		}
	})
}

// If it is included after all, it counts, and the transaction that was to void it ends.
func TestAnAbandonedTransactionThatIsIncludedCounts(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		r.chain.Mine(1) // before the other one is sent
		r.trouble = true
		r.step()
		r.once(w, before, to)
		if got := r.now(w); got.OutgoingID != w.OutgoingID {
			t.Errorf("it is %+v", got)
		}
	})
}

// A reorg removes the voiding transaction before it is final, and the first transaction is mined on the other branch;
// and the other way round.
func TestAReorgUndoesAnAbandonment(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		first := r.version(w.TxID)
		r.step()
		void := ""
		for _, p := range r.open() {
			if p.ID != w.OutgoingID {
				void = p.TxID
			}
		}
		r.chain.Mine(1)
		r.step()
		r.trouble = true
		r.undo(void, void)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, first))
		r.chain.Mine(1)
		r.step()
		r.once(w, before, to)
		if got := r.now(w); got.OutgoingID != w.OutgoingID {
			t.Errorf("it is %+v", got)
		}
	})
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		r.chain.Mine(1)
		r.trouble = true
		r.step()
		r.undo(w.TxID, w.TxID)
		r.chain.Forget()
		r.once(w, before, to)
		if got := r.now(w); got.OutgoingID == w.OutgoingID {
			t.Error("it was paid by the transaction that was made void")
		}
	})
}

// A transaction that is not sent, or is in a block, cannot be made void; nor can one be made void twice.
func TestTransactionsThatCannotBeMadeVoid(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, _, _ := r.abandoned()
		if _, err := r.sender.Abandon(ctx, w.OutgoingID,
			outgoing.Abandonment{Reason: "again"}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("twice: %v", err)
		}
		r.settle()
		if _, err := r.sender.Abandon(ctx, w.OutgoingID,
			outgoing.Abandonment{Reason: "late"}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("once it is over: %v", err)
		}
	})
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		if _, err := r.sender.Abandon(ctx, r.now(w).OutgoingID,
			outgoing.Abandonment{Reason: "stuck"}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("on a chain without UTXOs: %v", err)
		}
	})
}

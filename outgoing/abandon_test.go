package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/outgoing"
)

// abandoned has a payment requested, sent and made void by an operator. It returns the withdrawal as it was, and its
// outgoing transaction.
func (r *harness) abandoned() (w bursar.Withdrawal, before bursar.Amount, to string) {
	r.T.Helper()
	before, to = r.Prepare(), r.Chain.Named("outside")
	w = r.Order(300_000_000, to)
	r.Step()
	w = r.Now(w)
	_, err := r.Sender.Abandon(ctx, w.OutgoingID, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
	r.Must(err)
	return w, before, to
}

// once checks that the receiver of a withdrawal was paid once and that nothing is open.
func (r *harness) once(w bursar.Withdrawal, before bursar.Amount, to string) {
	r.T.Helper()
	r.Settle()
	r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	r.NothingOpen()
}

// A transaction that is made void is paid again once the voiding transaction is final, and not before.
func TestAnAbandonedTransactionIsPaidAgainOnceItIsVoid(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		r.Step()
		r.Chain.Mine(1)
		r.Step()
		if got := r.Now(w); got.OutgoingID != w.OutgoingID {
			t.Fatalf("the withdrawal is paid again before the proof is final: %+v", got)
		}
		r.once(w, before, to)
		if got := r.Now(w); got.OutgoingID == w.OutgoingID {
			t.Error("it was paid by the transaction that was made void")
		}
	})
}

// If it is included after all, it counts, and the transaction that was to void it ends.
func TestAnAbandonedTransactionThatIsIncludedCounts(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		r.Chain.Mine(1) // before the other one is sent
		r.Trouble = true
		r.Step()
		r.once(w, before, to)
		if got := r.Now(w); got.OutgoingID != w.OutgoingID {
			t.Errorf("the withdrawal is %+v, want %v", got, w.OutgoingID)
		}
	})
}

// A reorg removes the voiding transaction before it is final, and the first transaction is mined on the other branch;
// and the other way round.
func TestAReorgUndoesAnAbandonment(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		first := r.version(w.TxID)
		r.Step()
		void := ""
		for _, p := range r.Open() {
			if p.ID != w.OutgoingID {
				void = p.TxID
			}
		}
		r.Chain.Mine(1)
		r.Step()
		r.Trouble = true
		r.Undo(void, void)
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, first))
		r.Chain.Mine(1)
		r.Step()
		r.once(w, before, to)
		if got := r.Now(w); got.OutgoingID != w.OutgoingID {
			t.Errorf("the withdrawal is %+v, want %v", got, w.OutgoingID)
		}
	})
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		r.Chain.Mine(1)
		r.Trouble = true
		r.Step()
		r.Undo(w.TxID, w.TxID)
		r.Chain.Forget()
		r.once(w, before, to)
		if got := r.Now(w); got.OutgoingID == w.OutgoingID {
			t.Error("it was paid by the transaction that was made void")
		}
	})
}

// A transaction that is not sent, or is in a block, cannot be made void; nor can one be made void twice.
func TestTransactionsThatCannotBeMadeVoid(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, _, _ := r.abandoned()
		if _, err := r.Sender.Abandon(ctx, w.OutgoingID,
			outgoing.Abandonment{Reason: "again"}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("twice: %v, want %v", err, outgoing.ErrCannotBeVoid)
		}
		r.Settle()
		if _, err := r.Sender.Abandon(ctx, w.OutgoingID,
			outgoing.Abandonment{Reason: "late"}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("once it is over: %v, want %v", err, outgoing.ErrNotOpen)
		}
	})
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		if _, err := r.Sender.Abandon(ctx, r.Now(w).OutgoingID,
			outgoing.Abandonment{Reason: "stuck"}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("on a chain without UTXOs: %v, want %v", err, outgoing.ErrCannotBeVoid)
		}
	})
}

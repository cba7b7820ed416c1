package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// unknownFate has a withdrawal whose signed transaction no node received until an outage ended that was longer than the
// nodes keep their history.
func (r *harness) unknownFate() (w bursar.Withdrawal, before bursar.Amount, to string) {
	r.T.Helper()
	before, to = r.Prepare(), r.Chain.Named("outside")
	r.Settle() // its sweep
	w = r.Order(300_000_000, to)
	r.Step()
	r.Chain.Forget()
	r.Chain.Mine(20)
	head, err := r.Chain.Head(ctx)
	r.Must(err)
	r.Trouble = true // until the follower has caught up; then the history is gone
	for more := true; more; {
		more, err = r.Follower.Step(ctx, r.Lease)
		r.Must(err)
	}
	r.Chain.Prune(head.Latest.Height - 2)
	r.Step()
	r.WantAlarms("history_pruned")
	return w, before, to
}

// A node with the whole history proves what happened to a transaction: no statement is needed, and a wrong one is
// refused.
func TestANodeWithAllHistoryResolvesAnOutgoingTransaction(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		w, before, to := r.unknownFate()
		id := r.Now(w).OutgoingID
		if _, err := r.Sender.Resolve(ctx, id, r.Chain, outgoing.Resolution{}); !errors.Is(err, outgoing.ErrUnknown) {
			t.Fatalf("a pruned node resolved it: %v, want %v", err, outgoing.ErrUnknown)
		}
		r.Chain.Prune(0)
		if _, err := r.Sender.Resolve(ctx, id, r.Chain,
			outgoing.Resolution{Paid: r.Now(w).TxID, Reason: "an explorer"}); !errors.Is(err, outgoing.ErrDisputed) {
			t.Fatalf("what the chain disproves was believed: %v, want %v", err, outgoing.ErrDisputed)
		}
		_, err := r.Sender.Resolve(ctx, id, r.Chain, outgoing.Resolution{})
		r.Must(err)
		r.WantAlarms()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If no node has the history, an operator's statement counts: it was never paid, and is paid by another transaction.
func TestAnOperatorsStatementResolvesATransactionWithoutHistory(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		w, before, to := r.unknownFate()
		id := r.Now(w).OutgoingID
		if _, err := r.Sender.Resolve(ctx, id, r.Chain,
			outgoing.Resolution{NeverPaid: true}); !errors.Is(err, outgoing.ErrUnknown) {
			t.Fatalf("a word without a reason was believed: %v, want %v", err, outgoing.ErrUnknown)
		}
		_, err := r.Sender.Resolve(ctx, id, r.Chain,
			outgoing.Resolution{NeverPaid: true, Reason: "absent in two explorers", Actor: "ann"})
		r.Must(err)
		r.WantAlarms()
		r.Chain.Prune(0)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if r.Now(w).OutgoingID == id {
			t.Error("it was paid by the transaction that was given up")
		}
	})
}

// A statement that a transaction was included is settled like any inclusion; one about another transaction is refused.
func TestAnOperatorsStatementSettlesAPayment(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		w, _, _ := r.unknownFate()
		id := r.Now(w).OutgoingID
		if _, err := r.Sender.Resolve(ctx, id, r.Chain,
			outgoing.Resolution{Paid: "another", Reason: "an explorer"}); !errors.Is(err, outgoing.ErrDisputed) {
			t.Fatalf("another transaction was believed: %v, want %v", err, outgoing.ErrDisputed)
		}
		_, err := r.Sender.Resolve(ctx, id, r.Chain, outgoing.Resolution{Paid: r.Now(w).TxID, Reason: "an explorer"})
		r.Must(err)
		r.Step()
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %+v, want %v", got, bursar.WithdrawalConfirmed)
		}
		if _, err := r.Sender.Resolve(ctx, id, r.Chain,
			outgoing.Resolution{NeverPaid: true, Reason: "a mistake"}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("what is settled was resolved: %v, want %v", err, outgoing.ErrNotOpen)
		}
	})
}

// A transaction that can still be included is not resolved by any statement.
func TestNoStatementEndsATransactionThatMayBeIncluded(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		_, err := r.Sender.Resolve(ctx, r.Now(w).OutgoingID, r.Chain,
			outgoing.Resolution{NeverPaid: true, Reason: "I want it so"})
		if !errors.Is(err, outgoing.ErrDisputed) {
			t.Fatalf("it was resolved: %v, want %v", err, outgoing.ErrDisputed)
		}
		r.View(func(tx *store.Tx) error {
			p, err := tx.Outgoing().Get(ctx, r.Now(w).OutgoingID)
			if p.Status != bursar.OutgoingSent {
				t.Errorf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingSent)
			}
			return err
		})
	})
}

// archive is a chain with one endpoint that keeps the whole history, which is not the one that answers first.
type archive struct {
	*sim.Chain
	paid string // the transaction that it shows, in a block that the others keep
}

func (a archive) Outcome(ctx context.Context, unsigned chain.UnsignedTx, txID string) (chain.Outcome, error) {
	if txID != a.paid {
		return chain.Outcome{}, chain.ErrPruned
	}
	if unsigned.Bytes == nil {
		return chain.Outcome{}, errors.New("there is no draft")
	}
	head, err := a.Head(ctx)
	return chain.Outcome{Included: true, Block: head.Final}, err
}

// Every endpoint is asked before an operator's statement counts: a payment that one of them shows is not made again.
func TestEveryEndpointIsAskedBeforeAStatementCounts(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		w, _, _ := r.unknownFate()
		id, paid := r.Now(w).OutgoingID, r.Now(w).TxID
		word := outgoing.Resolution{NeverPaid: true, Reason: "absent in an explorer", Actor: "ann"}
		_, err := r.Sender.Resolve(ctx, id, archive{r.Chain, paid}, word)
		if !errors.Is(err, outgoing.ErrDisputed) || r.Now(w).OutgoingID != id {
			t.Fatalf("a word was believed against what an endpoint shows: %v, want %v and %v", err, outgoing.ErrDisputed, id)
		}
		_, err = r.Sender.Resolve(ctx, id, archive{r.Chain, "another"}, word)
		r.Must(err)
		if got := r.Now(w); got.OutgoingID == id && got.Status != bursar.WithdrawalQueued {
			t.Errorf("where no endpoint keeps the history the word counts: %+v", got)
		}
	})
}

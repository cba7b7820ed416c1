package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// unknownFate is a withdrawal whose signed transaction no node took, until an outage ended that was longer than the
// nodes keep their history.
func (r *harness) unknownFate() (w bursar.Withdrawal, before bursar.Amount, to string) {
	r.t.Helper()
	before, to = r.prepare(), r.chain.Named("outside")
	r.settle() // its sweep
	w = r.order(300_000_000, to)
	r.step()
	r.chain.Forget()
	r.chain.Mine(20)
	head, err := r.chain.Head(ctx)
	r.must(err)
	r.trouble = true // until the follower has read what it lacks; then the history is gone
	for more := true; more; {
		more, err = r.follower.Step(ctx, r.lease)
		r.must(err)
	}
	r.chain.Prune(head.Latest.Height - 2)
	r.step()
	r.wantAlarms("history_pruned")
	return w, before, to
}

// A node with the whole history proves what became of a transaction: nothing needs to be believed, and a wrong word is
// refused.
func TestANodeWithAllHistoryResolvesAnOutgoingTransaction(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		w, before, to := r.unknownFate()
		id := r.now(w).OutgoingID
		if _, err := r.sender.Resolve(ctx, id, r.chain, outgoing.Resolution{}); !errors.Is(err, outgoing.ErrUnknown) {
			t.Fatalf("a pruned node resolved it: %v", err)
		}
		r.chain.Prune(0)
		if _, err := r.sender.Resolve(ctx, id, r.chain,
			outgoing.Resolution{Paid: r.now(w).TxID, Reason: "an explorer"}); !errors.Is(err, outgoing.ErrDisputed) {
			t.Fatalf("what the chain disproves was believed: %v", err)
		}
		_, err := r.sender.Resolve(ctx, id, r.chain, outgoing.Resolution{})
		r.must(err)
		r.wantAlarms()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// Where no node can tell, an operator's word counts: it was never paid, and is paid by another transaction.
func TestAnOperatorsWordResolvesWhatNoNodeCanTell(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		w, before, to := r.unknownFate()
		id := r.now(w).OutgoingID
		if _, err := r.sender.Resolve(ctx, id, r.chain,
			outgoing.Resolution{NeverPaid: true}); !errors.Is(err, outgoing.ErrUnknown) {
			t.Fatalf("a word without a reason was believed: %v", err)
		}
		_, err := r.sender.Resolve(ctx, id, r.chain,
			outgoing.Resolution{NeverPaid: true, Reason: "absent in two explorers", Actor: "ann"})
		r.must(err)
		r.wantAlarms()
		r.chain.Prune(0)
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		if r.now(w).OutgoingID == id {
			t.Error("it was paid by the transaction that was given up")
		}
	})
}

// A word that a transaction was included is settled like any inclusion; one about another transaction is refused.
func TestAnOperatorsWordSettlesWhatWasPaid(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		w, _, _ := r.unknownFate()
		id := r.now(w).OutgoingID
		if _, err := r.sender.Resolve(ctx, id, r.chain,
			outgoing.Resolution{Paid: "another", Reason: "an explorer"}); !errors.Is(err, outgoing.ErrDisputed) {
			t.Fatalf("another transaction was believed: %v", err)
		}
		_, err := r.sender.Resolve(ctx, id, r.chain, outgoing.Resolution{Paid: r.now(w).TxID, Reason: "an explorer"})
		r.must(err)
		r.step()
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed {
			t.Errorf("it is %+v", got)
		}
		if _, err := r.sender.Resolve(ctx, id, r.chain,
			outgoing.Resolution{NeverPaid: true, Reason: "a mistake"}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("what is settled was resolved: %v", err)
		}
	})
}

// What can still be included is not resolved by anybody's word.
func TestNobodysWordEndsWhatMayStillBePaid(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		_, err := r.sender.Resolve(ctx, r.now(w).OutgoingID, r.chain,
			outgoing.Resolution{NeverPaid: true, Reason: "I want it so"})
		if !errors.Is(err, outgoing.ErrDisputed) {
			t.Fatalf("it was resolved: %v", err)
		}
		r.view(func(tx *store.Tx) error {
			p, err := tx.Outgoing().Get(ctx, r.now(w).OutgoingID)
			if p.Status != bursar.OutgoingSent {
				t.Errorf("it is %s", p.Status)
			}
			return err
		})
	})
}

// archive is a chain of which one endpoint keeps the whole history, though not the one that answers first.
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

// Every endpoint is asked before anybody's word counts: what one of them shows to be paid is not paid again.
func TestEveryEndpointsHistoryIsAskedBeforeAWordCounts(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		w, _, _ := r.unknownFate()
		id, paid := r.now(w).OutgoingID, r.now(w).TxID
		word := outgoing.Resolution{NeverPaid: true, Reason: "absent in an explorer", Actor: "ann"}
		_, err := r.sender.Resolve(ctx, id, archive{r.chain, paid}, word)
		if !errors.Is(err, outgoing.ErrDisputed) || r.now(w).OutgoingID != id {
			t.Fatalf("a word was believed against what an endpoint shows: %v", err)
		}
		_, err = r.sender.Resolve(ctx, id, archive{r.chain, "another"}, word)
		r.must(err)
		if got := r.now(w); got.OutgoingID == id && got.Status != bursar.WithdrawalQueued {
			t.Errorf("where no endpoint keeps the history the word counts: %+v", got)
		}
	})
}

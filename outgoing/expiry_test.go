package outgoing_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// If a node accepted a transaction and no block ever included it, it is requested again once it has expired, and paid
// once.
func TestATransactionThatWasAcceptedAndLostIsMadeAgain(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.lose(12)
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A payment that was final is reorged out and expires before it is included again.
func TestASettledPaymentThatExpiresAfterAllIsMadeAgain(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.settle()
		first := r.now(w).TxID
		r.undo(first, first)
		r.lose(15)
		r.settle()
		if r.now(w).TxID == first {
			t.Error("the same transaction was included again after it expired")
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If a transaction that was proven to have expired is in a block after all, the withdrawal must not be paid a third
// time, and an alarm is raised.
func TestAnExpiredTransactionThatIsMinedStopsPayouts(t *testing.T) {
	t.Run("at once", func(t *testing.T) { expiredComesBack(t, false) })
	t.Run("after a restart", func(t *testing.T) { expiredComesBack(t, true) })
}

func expiredComesBack(t *testing.T, again bool) {
	each(t, expiring, func(t *testing.T, r *harness) {
		r.prepare()
		to := r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.step()
		r.chain.Mine(1)
		r.step()
		first := r.now(w).TxID
		r.undo(first, first)
		r.lose(12)
		r.settle()
		second := r.now(w).TxID
		if second == first {
			t.Fatal("it did not expire")
		}
		ref, err := r.chain.Find(ctx, second)
		r.must(err)
		head, err := r.chain.Head(ctx)
		r.must(err)
		r.chain.ReorgBack(int(head.Latest.Height-ref.Height)+12, first, second)
		if again {
			r.restart()
		}
		r.trouble = true
		for range 30 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.chain.Balance(to, ""); got != w.Amount {
			t.Errorf("the receiver holds %s", got)
		}
		r.view(func(tx *store.Tx) error {
			state, err := tx.Chains().State(ctx, r.chain.Capabilities().ID)
			if err != nil || state.Halted == "" {
				t.Error("payments go on")
			}
			alarms, err := tx.Alarms().List(ctx, 10)
			if !slices.ContainsFunc(alarms, func(a store.Alarm) bool { return a.Kind == "abandoned_included" }) {
				t.Errorf("the alarms are %+v", alarms)
			}
			return err
		})
	})
}

// mistaken is a chain that reports a transaction as expired just before it is in a block.
type mistaken struct {
	*sim.Chain
	before func(txID string)
}

func (m mistaken) Expired(_ context.Context, _ chain.UnsignedTx, txID string) (bool, error) {
	m.before(txID)
	return true, nil
}

// A transaction that is in a block by the books has not expired, whatever a node says.
func TestATransactionInABlockNeverExpires(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.chain.FailBroadcasts(sim.LostUnknown, 1)
		r.sender.Chain = mistaken{r.chain, func(txID string) {
			r.must(r.chain.Broadcast(ctx, r.version(txID)))
			r.chain.Mine(1)
			_, err := r.follower.Step(ctx, r.lease)
			r.must(err)
		}}
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

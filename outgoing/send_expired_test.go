package outgoing_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// If a node accepted a transaction and no block ever included it, it is requested again once it has expired, and paid
// once.
func TestATransactionThatWasAcceptedAndLostIsMadeAgain(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Lose(12)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A payment that was final is reorged out and expires before it is included again.
func TestASettledPaymentThatExpiresAfterAllIsMadeAgain(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Settle()
		first := r.Now(w).TxID
		r.Undo(first, first)
		r.Lose(15)
		r.Settle()
		if r.Now(w).TxID == first {
			t.Error("the same transaction was included again after it expired")
		}
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If a transaction that was proven to have expired is in a block after all, the withdrawal must not be paid a third
// time, and an alarm is raised.
func TestAnExpiredTransactionThatIsMinedStopsPayouts(t *testing.T) {
	t.Run("at once", func(t *testing.T) { expiredComesBack(t, false) })
	t.Run("after a restart", func(t *testing.T) { expiredComesBack(t, true) })
}

func expiredComesBack(t *testing.T, again bool) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		r.Prepare()
		to := r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Step()
		r.Chain.Mine(1)
		r.Step()
		first := r.Now(w).TxID
		r.Undo(first, first)
		r.Lose(12)
		r.Settle()
		second := r.Now(w).TxID
		if second == first {
			t.Fatal("it did not expire")
		}
		ref, err := r.Chain.Find(ctx, second)
		r.Must(err)
		head, err := r.Chain.Head(ctx)
		r.Must(err)
		r.Chain.ReorgBack(int(head.Latest.Height-ref.Height)+12, first, second)
		if again {
			r.Restart()
		}
		r.Trouble = true
		for range 30 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Chain.Balance(to, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.View(func(tx *store.Tx) error {
			state, err := tx.Chains().State(ctx, r.Chain.Capabilities().ID)
			if err != nil || state.Halted == "" {
				t.Errorf("payments go on, want not %q", "")
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
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Chain.FailBroadcasts(sim.LostUnknown, 1)
		r.Sender.Chain = mistaken{r.Chain, func(txID string) {
			r.Must(r.Chain.Broadcast(ctx, r.version(txID)))
			r.Chain.Mine(1)
			_, err := r.Follower.Step(ctx, r.Lease)
			r.Must(err)
		}}
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

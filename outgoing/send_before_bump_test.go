package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
)

// If a node accepts a payment but its answer is lost, and the block that includes the payment is reorged out, the
// payment is sent again, not bumped: its waiting time counts from then.
func TestAPaymentNotKnownToBeSentIsSentBeforeItIsBumped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.TakenUnknown, 1)
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		first := r.Now(w).TxID
		r.Chain.Mine(1)
		r.CatchUp()
		if p := r.only(); p.Height == 0 || p.SentAt != 0 {
			t.Fatalf("it is %+v, want not 0 and 0", p)
		}
		r.Chain.Reorg(1, first)
		r.Chain.SetRate(50)
		r.Chain.Mine(3)
		r.CatchUp()
		node := r.record()
		r.Must(r.Sender.Step(ctx, r.Lease))
		node.wantSent(t, "when its block is gone", first)
		_, latest := r.Chain.Heights()
		if p := r.only(); p.Versions != 1 || p.SentAt != latest {
			t.Errorf("it has %d versions and counts as sent at %d of %d", p.Versions, p.SentAt, latest)
		}
		r.Chain.Mine(3)
		r.Step()
		if p := r.only(); p.Versions != 2 {
			t.Errorf("three blocks later it has %d versions, want 2", p.Versions)
		}
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// On a chain without replacement nothing is bumped, however long it waits.
func TestNothingIsBumpedOnAChainWithoutReplacement(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		for range 3 {
			r.Chain.Mine(1)
			r.Step()
		}
		node.wantSent(t, "with three blocks", w.TxID, w.TxID, w.TxID)
		if len(node.built) > 0 || r.only().Error != "" {
			t.Errorf("%d transactions are drafted, and its error is %q, want none and %q", len(node.built), r.only().Error, "")
		}
		r.Chain.SetRate(10)
		r.Settle()
	})
}

// If the database has lost the bytes of a sent transaction, that does not count as proof that it can never be included:
// nothing else pays instead, and the error says what is missing.
func TestAPaymentWhoseBytesAreMissingIsNotGivenUp(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		r.Forged = true
		intruder(t, r.DB)(`DELETE FROM outgoing_versions`)
		r.Trouble = true
		r.Chain.Mine(1)
		r.Step()
		if got := r.only(); got.ID != w.OutgoingID || got.Status != bursar.OutgoingSent ||
			!strings.Contains(got.Error, "no stored version") {
			t.Errorf("it is %s, and its error is %q, want %v and %v and %q in it", got.Status, got.Error, w.OutgoingID,
				bursar.OutgoingSent, "no stored version")
		}
		node.wantSent(t, "without bytes")
		if got := r.Now(w); got.Status != bursar.WithdrawalBroadcast || len(node.built) > 0 {
			t.Errorf("the withdrawal is %s, %d transactions are drafted, want %v and none", got.Status, len(node.built),
				bursar.WithdrawalBroadcast)
		}
	})
}

// If a block included the first version of a bumped payment and is reorged out, that version is sent again, and counts.
func TestTheVersionThatWasInABlockIsSentAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		low := r.version(w.TxID)
		r.Chain.Mine(3)
		r.Step()
		if r.only().Versions != 2 {
			t.Fatal("it is not bumped")
		}
		r.Chain.Forget()
		r.Chain.SetRate(10)
		r.Must(r.Chain.Broadcast(ctx, low))
		r.Chain.Mine(1)
		r.Step()
		if r.only().TxID != low.TxID {
			t.Fatal("the first version is in no block")
		}
		r.Chain.Reorg(1, low.TxID)
		r.Chain.Forget()
		r.CatchUp()
		node.since()
		r.Must(r.Sender.Step(ctx, r.Lease))
		node.wantSent(t, "when its block is gone", low.TxID)
		r.Settle()
		if got := r.Now(w).TxID; got != low.TxID {
			t.Errorf("the withdrawal is paid by %s, want %s", got, low.TxID)
		}
		r.Must(r.Audit())
	})
}

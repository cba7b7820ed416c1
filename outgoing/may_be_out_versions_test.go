package outgoing_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// If the second of two versions needs a deposit that is gone for good and the first does not, the first may still be
// included, and no other transaction pays.
func TestATransactionIsKeptWhileOneVersionOfItMayBeIncluded(t *testing.T) {
	config := bursartest.UTXOModel
	config.BumpAfter = 2
	each(t, config, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(5)
		r.Step()
		deposit := r.Pay(r.Wallet(1).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		w := r.Order(985_000_000, r.Chain.Named("outside"))
		r.Step()
		first, lost := r.version(r.Now(w).TxID), r.Now(w).OutgoingID
		needed := r.unsignedOf(lost).Reservations
		r.Trouble = true
		r.Chain.SetRate(200_000) // its change is not enough for the fee
		for n := 0; n < 5 && r.versionsOf(lost) == 1; n++ {
			r.Step()
			r.Chain.Mine(1)
			r.follow()
			_ = r.Sender.Step(ctx, r.Lease)
		}
		if all := r.unsignedOf(lost).Reservations; len(needed) != 1 || len(all) != 2 ||
			slices.Contains(needed, deposit+":0") {
			t.Fatalf("at first it uses %v, later %v, want 1 of them and 2 of them and no %v", needed, all, deposit+":0")
		}
		r.Chain.Forget()
		r.Chain.SetRate(1 << 40) // no block includes a transaction of ours
		r.Chain.Reorg(int(r.height())-5, deposit)
		r.Chain.DoubleSpend(deposit)
		for range 10 {
			r.Blocks(1)
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("the outgoing transaction is %s, though its first version may be included, want %s",
					p.Status, bursar.OutgoingSent)
			}
		}
		r.Chain.SetRate(10)
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, first))
		r.Blocks(6)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != first.TxID {
			t.Errorf("the withdrawal is %s by %s, want %s and %s",
				now.Status, now.TxID, bursar.WithdrawalConfirmed, first.TxID)
		}
		r.holdsOnce(w)
	})
}

// A transaction is kept if, just before it is given up, it is included or the proof against it is reorged out.
func TestATransactionThatIsIncludedBeforeItIsGivenUpIsKept(t *testing.T) {
	for name, inBlock := range map[string]bool{"it is in a block": true, "the proof is gone": false} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				armed, looks := false, false
				then := func() {}
				r := newHarness(t, db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
					looks = looks || armed && at == store.Running &&
						strings.Contains(what, "UNION SELECT v.resource FROM moved_reservations")
					if at == store.Ended && looks {
						armed, looks = false, false
						then()
					}
					return nil
				}}), bursartest.UTXOModel)
				deposit, w, _ := r.batchOverADeposit()
				lost, txID := r.Now(w).OutgoingID, r.Now(w).TxID
				r.Trouble = true
				r.Chain.Reorg(3, deposit)
				again := r.Chain.DoubleSpend(deposit)
				r.Chain.Mine(4)
				r.follow()
				armed, then = true, func() {
					if inBlock {
						r.Do(func(tx *store.Tx) error {
							return tx.Outgoing().Include(ctx, lost, txID, r.height(), false, bursar.Units(1))
						})
						return
					}
					r.Chain.ReorgBack(5, deposit, again)
					r.follow()
				}
				_ = r.Sender.Step(ctx, r.Lease)
				if p := r.spendNow(lost); armed || p.Status != bursar.OutgoingSent || r.Now(w).OutgoingID != lost {
					t.Fatalf("the outgoing transaction is %s, and the withdrawal is %+v", p.Status, r.Now(w))
				}
				if !inBlock {
					r.Blocks(6)
					r.holdsOnce(w)
					r.NothingOpen()
				}
			})
		})
	}
}

// A transaction that is given up is not sent again, and no error is recorded for it.
func TestATransactionThatIsGivenUpIsNotSentAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		deposit, w, _ := r.batchOverADeposit()
		lost, txID := r.Now(w).OutgoingID, r.Now(w).TxID
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Chain.DoubleSpend(deposit)
		r.Chain.Mine(4)
		r.follow()
		watched := &interrupted{Chain: r.Chain}
		r.Sender.Chain = watched
		r.Must(r.Sender.Step(ctx, r.Lease))
		if p := r.spendNow(lost); p.Status != bursar.OutgoingAbandoned || p.Error != "" ||
			slices.Contains(watched.sent, txID) {
			t.Errorf("the outgoing transaction is %s with the error %q, and sent were %v, want %v and %q and no %v", p.Status,
				p.Error, watched.sent, bursar.OutgoingAbandoned, "", txID)
		}
		r.Sender.Chain = r.Chain
		r.Settle()
		r.holdsOnce(w)
	})
}

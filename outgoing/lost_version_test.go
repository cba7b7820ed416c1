package outgoing_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// If the second of two versions needs a deposit that is gone for good and the first does not, the first may still be
// included, and no other transaction pays.
func TestATransactionIsKeptWhileOneVersionOfItMayBeIncluded(t *testing.T) {
	config := utxoModel
	config.BumpAfter = 2
	each(t, config, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(5)
		r.step()
		deposit := r.pay(r.wallet(1).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		w := r.order(985_000_000, r.chain.Named("outside"))
		r.step()
		first, lost := r.version(r.now(w).TxID), r.now(w).OutgoingID
		needed := r.unsignedOf(lost).Reservations
		r.trouble = true
		r.chain.SetRate(200_000) // its change is not enough for the fee
		for n := 0; n < 5 && r.versionsOf(lost) == 1; n++ {
			r.step()
			r.chain.Mine(1)
			r.follow()
			_ = r.sender.Step(ctx, r.lease)
		}
		if all := r.unsignedOf(lost).Reservations; len(needed) != 1 || len(all) != 2 ||
			slices.Contains(needed, deposit+":0") {
			t.Fatalf("at first it uses %v, later %v", needed, all)
		}
		r.chain.Forget()
		r.chain.SetRate(1 << 40) // no block includes a transaction of ours
		r.chain.Reorg(int(r.height())-5, deposit)
		r.chain.DoubleSpend(deposit)
		for range 10 {
			r.blocks(1)
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("it is %s, though its first version may be included", p.Status)
			}
		}
		r.chain.SetRate(10)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, first))
		r.blocks(6)
		if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != first.TxID {
			t.Errorf("it is %s by %s", now.Status, now.TxID)
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
				r := newHarness(t, db.As(db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, what string) error {
					looks = looks || armed && at == store.Running &&
						strings.Contains(what, "UNION SELECT v.resource FROM moved_reservations")
					if at == store.Ended && looks {
						armed, looks = false, false
						then()
					}
					return nil
				}}), utxoModel)
				deposit, w, _ := r.batchOverADeposit()
				lost, txID := r.now(w).OutgoingID, r.now(w).TxID
				r.trouble = true
				r.chain.Reorg(3, deposit)
				again := r.chain.DoubleSpend(deposit)
				r.chain.Mine(4)
				r.follow()
				armed, then = true, func() {
					if inBlock {
						r.do(func(tx *store.Tx) error {
							return tx.Outgoing().Include(ctx, lost, txID, r.height(), false, bursar.Units(1))
						})
						return
					}
					r.chain.ReorgBack(5, deposit, again)
					r.follow()
				}
				_ = r.sender.Step(ctx, r.lease)
				if p := r.spendNow(lost); armed || p.Status != bursar.OutgoingSent || r.now(w).OutgoingID != lost {
					t.Fatalf("it is %s, and the withdrawal is %+v", p.Status, r.now(w))
				}
				if !inBlock {
					r.blocks(6)
					r.holdsOnce(w)
					r.nothingOpen()
				}
			})
		})
	}
}

// A transaction that is given up is not sent again, and no error is recorded for it.
func TestATransactionThatIsGivenUpIsNotSentAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		deposit, w, _ := r.batchOverADeposit()
		lost, txID := r.now(w).OutgoingID, r.now(w).TxID
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.chain.DoubleSpend(deposit)
		r.chain.Mine(4)
		r.follow()
		watched := &interrupted{Chain: r.chain}
		r.sender.Chain = watched
		r.must(r.sender.Step(ctx, r.lease))
		if p := r.spendNow(lost); p.Status != bursar.OutgoingAbandoned || p.Error != "" ||
			slices.Contains(watched.sent, txID) {
			t.Errorf("it is %s with the error %q, and sent were %v", p.Status, p.Error, watched.sent)
		}
		r.sender.Chain = r.chain
		r.settle()
		r.holdsOnce(w)
	})
}

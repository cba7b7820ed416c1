package recovery_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Of two equal withdrawals of one customer the first was sent before the backup and the second after it. The database
// has forgotten the second payment: if it were matched with the first withdrawal, which its own transaction pays, the
// second would be paid twice.
func TestAForgottenPaymentIsNotMatchedWithAnEqualSentOne(t *testing.T) {
	for name, mined := range map[string]int{"waiting": 0, "in a block": 1} {
		t.Run(name, func(t *testing.T) {
			bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
				r.Prepare()
				exchange := r.Chain.Named("exchange")
				one := r.Order(200_000_000, exchange)
				r.Step()
				r.Chain.Mine(mined)
				r.Step()
				two := r.Order(200_000_000, exchange)
				before := r.Backup()
				r.Settle()
				r.Restore(before)
				r.Settle()
				r.Recovered()
				r.Settle()
				if got := r.Chain.Balance(exchange, ""); got != bursar.Units(400_000_000) {
					t.Errorf("the receiver holds %s, want two times 200000000", got)
				}
				for _, w := range []bursar.Withdrawal{one, two} {
					if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
						t.Errorf("withdrawal %s is %s, want %s", w.ID, now.Status, bursar.WithdrawalConfirmed)
					}
				}
			})
		})
	}
}

// While a payment is in flight, an equal payment of a forgotten request in a block is not matched with it, because the
// one in flight may still be included: an operator is asked. If the one in flight expires instead, they are matched,
// and nothing is paid twice.
func TestAForgottenPaymentBesideAnEqualOneInFlight(t *testing.T) {
	t.Parallel()
	for name, included := range map[string]bool{"which is included": true, "which expires": false} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := bursartest.NewOneChain(t, db, bursartest.Unnumbered)
				r.Prepare()
				r.Settle()
				exchange := r.Chain.Named("exchange")
				one := r.Order(200_000_000, exchange)
				r.Step()
				first := sent(r, one)
				before := r.Backup()
				r.Chain.SetRate(1 << 20) // no block takes the first
				r.Chain.Mine(1)
				r.Chain.SetRate(1)
				two := r.Order(200_000_000, exchange)
				r.Step()
				r.Chain.Forget()
				r.Must(r.Chain.Broadcast(ctx, sent(r, two)))
				r.Chain.Mine(1)
				r.Restore(before)
				r.Follower.Step(ctx, r.Lease)
				if n := len(r.Unclear()); n != 1 {
					t.Fatalf("%d external spends are unclear, want 1", n)
				}
				if included {
					r.Must(r.Chain.Broadcast(ctx, first))
				}
				for range 12 {
					r.Step()
					r.Chain.Mine(1)
				}
				want, unclear := bursar.Units(200_000_000), 0
				if included {
					want, unclear = bursar.Units(400_000_000), 1
				}
				if got := r.Chain.Balance(exchange, ""); got != want {
					t.Errorf("the receiver holds %s, want %s", got, want)
				}
				if n := len(r.Unclear()); n != unclear {
					t.Errorf("%d external spends are unclear in the end, want %d", n, unclear)
				}
				if now := r.Now(one); now.Status != bursar.WithdrawalConfirmed || (now.TxID == first.TxID) != included {
					t.Errorf("the withdrawal is %s by %s, want %v and %v", now.Status, now.TxID, bursar.WithdrawalConfirmed, included)
				}
			})
		})
	}
}

// sent returns the transaction that pays a withdrawal.
func sent(r *bursartest.OneChain, w bursar.Withdrawal) (sent chain.SignedTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		versions, err := tx.Outgoing().Versions(ctx, r.Now(w).OutgoingID)
		if err == nil {
			sent = chain.SignedTx{TxID: versions[0].TxID, Raw: versions[0].Raw}
		}
		return err
	})
	return sent
}

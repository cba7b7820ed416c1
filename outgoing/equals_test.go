package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Of two equal withdrawals of one customer the first was sent before the backup and the second after it. What the
// database has forgotten is the second: taken for the first, which its own transaction pays, it would be paid once
// more.
func TestAForgottenPaymentIsNotTakenForAnEqualOneThatIsSent(t *testing.T) {
	for name, mined := range map[string]int{"waiting": 0, "in a block": 1} {
		t.Run(name, func(t *testing.T) {
			onModels(t, func(t *testing.T, r *harness) {
				r.prepare()
				exchange := r.chain.Named("exchange")
				one := r.order(200_000_000, exchange)
				r.step()
				r.chain.Mine(mined)
				r.step()
				two := r.order(200_000_000, exchange)
				before := r.backup()
				r.settle()
				r.restore(before)
				r.settle()
				r.recovered()
				r.settle()
				if got := r.chain.Balance(exchange, ""); got != bursar.Units(400_000_000) {
					t.Errorf("the receiver holds %s, two times 200000000 were ordered", got)
				}
				for _, w := range []bursar.Withdrawal{one, two} {
					if now := r.now(w); now.Status != bursar.WithdrawalConfirmed {
						t.Errorf("withdrawal %s is %s", w.ID, now.Status)
					}
				}
			})
		})
	}
}

// tronlike is a chain that numbers nothing: what is sent may be included beside an equal payment that the database has
// forgotten.
var tronlike = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2, Expiry: 6,
	Unnumbered: true}

// A payment is sent, and an equal one of a forgotten order is in a block. It is not taken for the one that is sent,
// which may still be included: an operator is asked. Where that expires instead, it is taken for it, and nobody is paid
// once more.
func TestAForgottenPaymentBesideAnEqualOneInFlight(t *testing.T) {
	t.Parallel()
	for name, included := range map[string]bool{"which is included": true, "which expires": false} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := newHarness(t, db, tronlike)
				r.prepare()
				r.settle()
				exchange := r.chain.Named("exchange")
				one := r.order(200_000_000, exchange)
				r.step()
				first := r.sent(one)
				before := r.backup()
				r.chain.SetRate(1 << 20) // no block takes the first
				r.chain.Mine(1)
				r.chain.SetRate(1)
				two := r.order(200_000_000, exchange)
				r.step()
				r.chain.Forget()
				r.must(r.chain.Broadcast(ctx, r.sent(two)))
				r.chain.Mine(1)
				r.restore(before)
				r.follower.Step(ctx, r.lease)
				if n := len(r.unclear()); n != 1 {
					t.Fatalf("%d external spends are unclear", n)
				}
				if included {
					r.must(r.chain.Broadcast(ctx, first))
				}
				for range 12 {
					r.step()
					r.chain.Mine(1)
				}
				want, unclear := bursar.Units(200_000_000), 0
				if included {
					want, unclear = bursar.Units(400_000_000), 1
				}
				if got := r.chain.Balance(exchange, ""); got != want {
					t.Errorf("the receiver holds %s, want %s", got, want)
				}
				if n := len(r.unclear()); n != unclear {
					t.Errorf("%d external spends are unclear in the end", n)
				}
				if now := r.now(one); now.Status != bursar.WithdrawalConfirmed || (now.TxID == first.TxID) != included {
					t.Errorf("the withdrawal is %s by %s", now.Status, now.TxID)
				}
			})
		})
	}
}

// sent returns the transaction that pays a withdrawal.
func (r *harness) sent(w bursar.Withdrawal) (sent chain.SignedTx) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		versions, err := tx.Outgoing().Versions(ctx, r.now(w).OutgoingID)
		if err == nil {
			sent = chain.SignedTx{TxID: versions[0].TxID, Raw: versions[0].Raw}
		}
		return err
	})
	return sent
}

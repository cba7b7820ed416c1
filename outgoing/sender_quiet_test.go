package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// idleStep makes the sender take steps and checks that they leave the database unchanged.
func (r *harness) idleStep(t *testing.T, what string) {
	t.Helper()
	if r.DB.Postgres() {
		return // contents reads files
	}
	_ = r.Sender.Step(ctx, r.Lease)
	before := contents(t, storetest.URL(r.DB))
	for range 2 {
		_ = r.Sender.Step(ctx, r.Lease)
	}
	if contents(t, storetest.URL(r.DB)) != before {
		t.Errorf("%s: a step in which nothing happens writes", what)
	}
}

// While nothing happens nothing is written, however many payments wait: a service with a queue does not wear out its
// disk, and its books and backups do not grow.
func TestWaitingPaymentsWriteNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.idleStep(t, "nothing is due")
		w := r.Order(900_000_000, r.Chain.Named("outside"))
		r.Chain.SetRate(1 << 20) // no fee within the limit
		r.idleStep(t, "a payment waits for a lower fee")
		r.Chain.SetRate(10)
		r.Trouble = true
		r.withoutSigner(func() { r.idleStep(t, "a payment waits for the signer") })
		r.Step()
		r.Chain.SetRate(1000) // no block includes it
		r.Chain.Mine(1)
		r.CatchUp()
		r.idleStep(t, "a payment waits for its block")
		r.Chain.SetRate(10)
		r.Settle()
		r.idleStep(t, "all is paid")
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}

// If an account is frozen after its payment was sent at a fee that is now too low, the fee is bumped and the payment is
// made, because other payments depend on it and its bytes may be anywhere.
func TestAFreezeHoldsUpNoSignedTransaction(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		first := r.Now(w).TxID
		r.Halt(r.FreezeOf(0))
		r.Chain.SetRate(50)
		r.Blocks(12)
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.TxID == first {
			t.Errorf("the withdrawal is %s, by another version: %v", got.Status, got.TxID != first)
		}
		r.NothingOpen()
	})
}

// The sender of one chain closes no alarm of another: that chain's payments still lack funds.
func TestOneChainsSenderEndsNoAlarmOfAnother(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Do(func(tx *store.Tx) error {
			return tx.Alarms().Raise(ctx, store.Alarm{Chain: "another", Kind: "funds_low", Ref: "another:COIN",
				Message: "of a test"})
		})
		r.Order(100_000_000, r.Chain.Named("outside"))
		r.Settle()
		r.WantAlarms("funds_low")
	})
}

package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// idleStep lets the spender take steps after which the database is as it was.
func (r *harness) idleStep(t *testing.T, what string) {
	t.Helper()
	if r.db.Postgres() {
		return // contents reads files
	}
	_ = r.sender.Step(ctx, r.lease)
	before := contents(t, storetest.URL(r.db))
	for range 2 {
		_ = r.sender.Step(ctx, r.lease)
	}
	if contents(t, storetest.URL(r.db)) != before {
		t.Errorf("%s: a step in which nothing happens writes", what)
	}
}

// While nothing happens nothing is written, however many payments wait: a service with a queue does not wear out its
// disk, and its books and backups do not grow.
func TestWhatWaitsWritesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(3)
		r.catchUp()
		r.idleStep(t, "nothing is due")
		w := r.order(900_000_000, r.chain.Named("outside"))
		r.chain.SetRate(1 << 20) // no fee within the limit
		r.idleStep(t, "a payment waits for a lower fee")
		r.chain.SetRate(10)
		r.trouble = true
		r.withoutSigner(func() { r.idleStep(t, "a payment waits for the signer") })
		r.step()
		r.chain.SetRate(1000) // no block takes it
		r.chain.Mine(1)
		r.catchUp()
		r.idleStep(t, "a payment waits for its block")
		r.chain.SetRate(10)
		r.settle()
		r.idleStep(t, "all is paid")
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", got)
		}
	})
}

// An account is frozen after its payment was sent at a fee that is too low by now. Others depend on it and its bytes
// are out of our hands: its fee is bumped, and it is paid.
func TestAFreezeHoldsUpNothingThatIsSigned(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		first := r.now(w).TxID
		r.halt(r.freezeOf(0))
		r.chain.SetRate(50)
		r.blocks(12)
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.TxID == first {
			t.Errorf("it is %s, by another version: %v", got.Status, got.TxID != first)
		}
		r.nothingOpen()
	})
}

// The spender of one chain ends no alarm of another: what that chain's payments lack is still to be sent.
func TestOneChainsSenderEndsNoAlarmOfAnother(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.do(func(tx *store.Tx) error {
			return tx.Alarms().Raise(ctx, store.Alarm{Chain: "another", Kind: "funds_low", Ref: "another:COIN",
				Message: "of a test"})
		})
		r.order(100_000_000, r.chain.Named("outside"))
		r.settle()
		r.wantAlarms("funds_low")
	})
}

package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A transaction that cannot be settled waits, says why, and holds up nothing else.

// If two payments become final and the database has lost the content of one of them, the other one is settled, and the
// event worker is woken for it.
func TestATransactionThatCannotBeSettledHoldsUpNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, numbered)
		r.forged = true
		attack := intruder(t, db)
		r.prepare()
		r.settle()
		broken, whole := r.order(100_000_000, r.chain.Named("broken")), r.order(100_000_000, r.chain.Named("whole"))
		r.step()
		r.chain.Mine(4)
		r.catchUp()
		attack(`DELETE FROM outgoing_versions WHERE outgoing_id = $1`, r.now(broken).OutgoingID)
		woken := 0
		r.sender.Settled = func() { woken++ }
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), "has no stored version") {
			t.Errorf("the step returned %v", err)
		}
		a, b := r.now(broken).Status, r.now(whole).Status
		if a != bursar.WithdrawalBroadcast || b != bursar.WithdrawalConfirmed {
			t.Errorf("the broken one is %s, the other one %s", a, b)
		}
		if woken != 1 {
			t.Errorf("deliveries were woken %d times", woken)
		}
	})
}

// The event worker is not woken by a step in which nothing is settled.
func TestAStepThatSettlesNothingWakesNobody(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.sender.Settled = func() { t.Error("deliveries were woken") }
		r.must(r.sender.Step(ctx, r.lease))
	})
}

// If the native asset is removed from the configuration while a transaction waits to become final, its fee cannot be
// booked, and nothing of it is, until the asset is configured again.
func TestAFeeOfAnUnconfiguredAssetIsNotSkipped(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		r.prepare()
		r.settle()
		r.give(token.Code, r.walletOf(0, token.Code).Address, 80_000_000)
		r.give(token.Code, bursar.Address{Base: r.hot.Base}, 80_000_000)
		r.settle()
		w := r.orderOf(0, token.Code, 10_000_000, r.chain.Named("outside"))
		r.step()
		r.chain.Mine(4)
		r.catchUp()
		whole := r.registry
		only, err := bursar.NewRegistry([]bursar.Currency{token})
		r.must(err)
		r.sender.Registry = only
		const why = "no currency is configured for the native asset"
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the step returned %v", err)
		}
		if got := r.now(w).Status; got != bursar.WithdrawalBroadcast {
			t.Errorf("without its fee it is %s", got)
		}
		r.sender.Registry = whole
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("in the end it is %s", got)
		}
		r.must(r.reconcile())
	})
}

package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What cannot be settled: it waits, says why, and holds up nothing else.

// Two payments become final, and the database has lost what one of them was. The other one is settled, and those who
// send events are woken for it.
func TestWhatCannotBeSettledHoldsUpNothing(t *testing.T) {
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
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), "has no stored transaction") {
			t.Errorf("the step ends with %v", err)
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

// Those who send events are not woken by a step in which nothing is settled.
func TestAStepThatSettlesNothingWakesNobody(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.sender.Settled = func() { t.Error("deliveries were woken") }
		r.must(r.sender.Step(ctx, r.lease))
	})
}

// The native asset is taken out of the configuration while a transaction waits to become final: its fee cannot be
// booked, and nothing of it is, until the configuration has it again.
func TestAFeeOfNoKnownAssetIsNotPassedOver(t *testing.T) {
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
		const why = "has no currency of its own configured"
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the step ends with %v", err)
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

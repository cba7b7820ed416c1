package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A transaction that cannot be settled waits, says why, and holds up nothing else.

// If two payments become final and the database has lost the content of one of them, the other one is settled, and the
// event worker is woken for it.
func TestATransactionThatCannotBeSettledHoldsUpNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, bursartest.Numbered)
		r.Forged = true
		attack := intruder(t, db)
		r.Prepare()
		r.Settle()
		broken, whole := r.Order(100_000_000, r.Chain.Named("broken")), r.Order(100_000_000, r.Chain.Named("whole"))
		r.Step()
		r.Chain.Mine(4)
		r.CatchUp()
		attack(`DELETE FROM outgoing_versions WHERE outgoing_id = $1`, r.Now(broken).OutgoingID)
		woken := 0
		r.Sender.EventsRecorded = func() { woken++ }
		if err := r.Sender.Step(ctx, r.Lease); err == nil || !strings.Contains(err.Error(), "has no stored version") {
			t.Errorf("the step returned %v, want an error and %q in it", err, "has no stored version")
		}
		a, b := r.Now(broken).Status, r.Now(whole).Status
		if a != bursar.WithdrawalBroadcast || b != bursar.WithdrawalConfirmed {
			t.Errorf("the broken one is %s, the other one %s, want %s and %s",
				a, b, bursar.WithdrawalBroadcast, bursar.WithdrawalConfirmed)
		}
		if woken != 1 {
			t.Errorf("deliveries were woken %d times, want 1", woken)
		}
	})
}

// The event worker is not woken by a step in which nothing is settled.
func TestAStepThatSettlesNothingWakesNobody(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Sender.EventsRecorded = func() { t.Error("deliveries were woken") }
		r.Must(r.Sender.Step(ctx, r.Lease))
	})
}

// If the native asset is removed from the configuration while a transaction waits to become final, its fee cannot be
// booked, and nothing of it is, until the asset is configured again.
func TestAFeeOfAnUnconfiguredAssetIsNotSkipped(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		r.Prepare()
		r.Settle()
		r.Give(token.Code, r.WalletOf(0, token.Code).Address, 80_000_000)
		r.Give(token.Code, bursar.Address{Base: r.Hot.Base}, 80_000_000)
		r.Settle()
		w := r.OrderOf(0, token.Code, 10_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Chain.Mine(4)
		r.CatchUp()
		whole := r.Registry
		only, err := bursar.NewRegistry([]bursar.Currency{token})
		r.Must(err)
		r.Sender.Registry = only
		const why = "no currency is configured for the native asset"
		if err := r.Sender.Step(ctx, r.Lease); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the step returned %v, want an error and %v in it", err, why)
		}
		if got := r.Now(w).Status; got != bursar.WithdrawalBroadcast {
			t.Errorf("without its fee the withdrawal is %s, want %s", got, bursar.WithdrawalBroadcast)
		}
		r.Sender.Registry = whole
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("in the end the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Must(r.Reconcile())
	})
}

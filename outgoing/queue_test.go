package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

// Where each withdrawal has a transaction of its own, one step takes up all that have a place, and no more than that.
func TestAStepTakesUpAllThatHaveAPlace(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		var orders []bursar.Withdrawal
		for range 12 {
			orders = append(orders, r.order(1_000_000, r.chain.Named("outside")))
		}
		r.step()
		taken := 0
		for _, w := range orders {
			if !r.now(w).OutgoingID.IsZero() {
				taken++
			}
		}
		if taken != 7 { // of ten places two are kept for gas and one for refunds
			t.Errorf("%d of %d withdrawals are taken up in one step", taken, len(orders))
		}
		r.settle()
		if got := r.chain.Balance(r.chain.Named("outside"), ""); got != bursar.Units(12_000_000) {
			t.Errorf("%s is paid", got)
		}
	})
}

// The native asset is taken out of the configuration while payments of it are under way: none is booked without its
// fee, the trouble is an error of each step, and once it is back everything is settled.
func TestNothingIsSettledWithoutItsFee(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		r.chain.Mine(4)
		r.catchUp()
		known := r.sender.Registry
		others, err := bursar.NewRegistry(nil)
		r.must(err)
		r.sender.Registry = others
		for range 2 {
			if err := r.sender.Step(ctx, r.lease); err == nil ||
				!strings.Contains(err.Error(), "no currency of its own configured") {
				t.Errorf("the step ends with %v", err)
			}
			if got := r.now(w).Status; got != bursar.WithdrawalBroadcast {
				t.Errorf("the withdrawal is %s", got)
			}
		}
		r.sender.Registry = known
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("in the end it is %s", got)
		}
		r.must(r.audit())
	})
}

package spend_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// The operator approves an order whose address became another currency's wallet meanwhile: it could not be credited.
func TestAnApprovalToAnotherCurrencysWalletIsRefused(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		limited, other := r.currency, r.currency
		limited.ApprovalAbove = bursar.Units(50_000_000)
		other.Code, other.Contract = "OTHER", r.chain.Named("contract")
		var err error
		r.registry, err = bursar.NewRegistry([]bursar.Currency{limited, other})
		r.must(err)
		r.restart()
		before := r.prepare()
		to := r.futureAddress(1)
		w := r.order(300_000_000, to.Base)
		r.walletOf(1, "OTHER")
		if _, err := r.withdrawals.Approve(ctx, w.ID); !isCode(err, bursar.CodeDestinationRefused) {
			t.Errorf("the approval gave %v", err)
		}
		if _, err := r.withdrawals.Reject(ctx, w.ID, "no"); err != nil {
			t.Error(err)
		}
		if got := r.available(0); got != before {
			t.Errorf("the payer has %s of %s", got, before)
		}
	})
}

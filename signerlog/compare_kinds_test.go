package signerlog_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signerlog"
)

// Moves to cold wallets, sweeps and consolidations, the hot wallet of an earlier epoch and refunds agree too.
func TestEveryKindAgreesWithTheBooks(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Vault(3_000_000_000, 2_000_000_000, r.Chain.Named("cold"))
		r.Fund()
		r.Settle()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 3_000_000_000)
		r.SettleAll()
		r.SendBack(r.Astray(), r.Chain.Named("sender"))
		r.SettleAll()
		r.Rotate()
		r.Order(10_000_000, r.Chain.Named("ann"))
		r.SettleAll()
		r.SettleAll()
		report := compared(r, signerlog.Period{})
		wantKinds(t, report)
		if report.Signed[chain.KindToCold] == 0 || report.Signed[chain.KindWithdrawal] < 2 || len(report.Sums) != 1 ||
			report.Sums[0].ColdByLog.IsZero() || report.Sums[0].PaidByLog.IsZero() {
			t.Errorf("got %+v, want moves to cold, a withdrawal and a refund", report)
		}
		home := report.Signed[chain.KindSweep] + report.Signed[chain.KindConsolidation]
		if home == 0 {
			t.Errorf("got %+v, want what empties the hot wallet of the epoch before", report)
		}
	})
}

// A log of a state that was lost and the one after it are compared together.
func TestTheLogsOfTwoStatesAreComparedTogether(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		paidOnce(r)
		first := r.SignerMemory()
		r.Vault(0, 0, r.Chain.Named("cold")) // another signer, which remembers nothing
		w := r.Order(20_000_000, r.Chain.Named("bob"))
		r.Settle()
		if r.SignerMemory() == first || r.Now(w).Status != bursar.WithdrawalConfirmed {
			t.Fatal("got the same signer, or no payment, want another that pays")
		}
		report, err := signerlog.Compare(ctx, r.DB, logOf(t, first, r.SignerMemory()), r.Registry, signerlog.Period{})
		r.Must(err)
		wantKinds(t, report)
		if len(report.Sums) != 1 || report.Sums[0].PaidByLog != bursar.Units(30_000_000) {
			t.Errorf("got %+v, want 30000000 by the log", report.Sums)
		}
	})
}

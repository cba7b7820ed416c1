package signerlog_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signerlog"
)

var ctx = context.Background()

// logOf reads the log of a signer.
func logOf(t *testing.T, keepers ...memory.Keeper) *signerlog.Log {
	t.Helper()
	log := &signerlog.Log{}
	for _, k := range keepers {
		log.Begin()
		if _, err := memory.Walk(ctx, k, log.Add); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

// compared compares the signer's log with the books.
func compared(r *bursartest.OneChain, p signerlog.Period) signerlog.Report {
	r.T.Helper()
	report, err := signerlog.Compare(ctx, r.DB, logOf(r.T.(*testing.T), r.SignerMemory()), r.Registry, p)
	r.Must(err)
	return report
}

// wantKinds checks which kinds of differences there are.
func wantKinds(t *testing.T, report signerlog.Report, want ...signerlog.DifferenceKind) {
	t.Helper()
	var got []signerlog.DifferenceKind
	for _, d := range report.Differences {
		got = append(got, d.Kind)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the differences %q, want %q: %+v", got, want, report.Differences)
	}
}

// history makes one transaction of each kind that a chain has: withdrawals, one of them replaced, sweeps with gas or a
// consolidation, and a move to cold.
func history(r *bursartest.OneChain) {
	r.T.Helper()
	tokens := r.Chain.Capabilities().Model == chain.AccountModel
	if tokens {
		r.WithTokens()
	}
	r.Fund()
	if tokens {
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
	}
	r.Settle()
	r.Order(10_000_000, r.Chain.Named("ann"))
	r.Settle()
	r.Order(20_000_000, r.Chain.Named("bob"))
	if tokens {
		r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("cat"))
	}
	r.Step()
	r.Chain.SetRate(40) // both are replaced
	for range 9 {
		r.Chain.Mine(1)
		r.Step()
	}
	r.Chain.SetRate(10)
	r.Settle()
}

// chains are those of which the histories are, each on both databases.
func chains(t *testing.T, test func(t *testing.T, r *bursartest.OneChain)) {
	t.Parallel()
	utxo, account := bursartest.UTXOModel, bursartest.Numbered
	utxo.BumpAfter, account.BumpAfter = 3, 3
	for name, config := range map[string]sim.Config{"UTXO": utxo, "account": account} {
		t.Run(name, func(t *testing.T) { bursartest.On(t, config, test) })
	}
}

func TestALogAgreesWithTheBooksThatItsServiceKept(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		history(r)
		report := compared(r, signerlog.Period{})
		wantKinds(t, report)
		t.Logf("%+v", report)
		if report.Signed[chain.KindWithdrawal] < 3 || report.Included == 0 || report.Replaced == 0 || report.Earlier > 0 ||
			report.Waiting > 0 || len(report.Uncompared) > 0 {
			t.Errorf("got %+v, want several withdrawals, one of them replaced, and everything compared", report)
		}
		paid := map[string]string{}
		for _, s := range report.Sums {
			paid[s.Contract] = s.PaidByLog.String()
		}
		want := map[string]string{"": "30000000"}
		if token, err := r.Registry.Get("TOKEN"); err == nil {
			want[token.Contract] = "1000"
		}
		if !maps.Equal(paid, want) {
			t.Errorf("by the log %v was paid, want %v", paid, want)
		}
	})
}

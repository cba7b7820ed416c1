package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// BenchmarkAWithdrawalBehindSweeps measures a step that assigns, signs and sends one withdrawal, with no open sweeps
// and with ten thousand that wait for gas.
func BenchmarkAWithdrawalBehindSweeps(b *testing.B) {
	for _, database := range []string{"sqlite", "postgres"} {
		for _, sweeps := range []int{0, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", database, sweeps), func(b *testing.B) {
				url := ""
				if database == "postgres" {
					url = storetest.Postgres(b)
				} else {
					url = storetest.SQLite(b)
				}
				r := newHarness(b, storetest.Open(b, url), bursartest.Numbered)
				r.WithTokens()
				r.Prepare()
				r.Settle()
				r.queueSweeps(sweeps)
				to := r.Chain.Named("outside")
				for b.Loop() {
					b.StopTimer()
					r.Order(1_000, to)
					r.Chain.Mine(1)
					for more := true; more; {
						var err error
						more, err = r.Follower.Step(ctx, r.Lease)
						r.Must(err)
					}
					b.StartTimer()
					r.Check(r.Sender.Step(ctx, r.Lease))
				}
			})
		}
	}
}

// queueSweeps requests sweeps of addresses that hold only tokens, without asking a node.
func (r *harness) queueSweeps(n int) {
	r.T.Helper()
	token, err := r.Registry.Get("TOKEN")
	r.Must(err)
	for from := 0; from < n; from += 1000 {
		r.Do(func(tx *store.Tx) error {
			for i := from; i < min(n, from+1000); i++ {
				base := r.Chain.Named(fmt.Sprint("deposit address ", i))
				request := chain.TxRequest{ID: r.IDs.Next(), Kind: chain.KindSweep, From: chain.Source{Base: base},
					MaxFee: r.Sweeper.MaxFee,
					Payments: []chain.Payment{{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
						Amount: bursar.Units(500)}}}
				r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: base}, Contract: token.Contract, Amount: bursar.Units(500)})
				if _, err := outgoing.InsertSweep(ctx, tx, r.Chain.Capabilities().ID, request, "TOKEN"); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

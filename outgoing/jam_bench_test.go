package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// BenchmarkAWithdrawalBehindSweeps measures a step that takes up, signs and sends one withdrawal, with no open sweeps
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
				r := newHarness(b, storetest.Open(b, url), numbered).withTokens()
				r.prepare()
				r.settle()
				r.queueSweeps(sweeps)
				to := r.chain.Named("outside")
				for b.Loop() {
					b.StopTimer()
					r.order(1_000, to)
					r.chain.Mine(1)
					for more := true; more; {
						var err error
						more, err = r.follower.Step(ctx, r.lease)
						r.must(err)
					}
					b.StartTimer()
					r.check(r.sender.Step(ctx, r.lease))
				}
			})
		}
	}
}

// queueSweeps orders sweeps of addresses that hold nothing but tokens, without asking anybody.
func (r *harness) queueSweeps(n int) {
	r.t.Helper()
	token, err := r.registry.Get("TOKEN")
	r.must(err)
	for from := 0; from < n; from += 1000 {
		r.do(func(tx *store.Tx) error {
			for i := from; i < min(n, from+1000); i++ {
				base := r.chain.Named(fmt.Sprint("deposit address ", i))
				order := chain.TxRequest{ID: r.ids.Next(), Kind: chain.KindSweep, From: chain.Source{Base: base},
					MaxFee: r.sweeper.MaxFee,
					Payments: []chain.Payment{{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
						Amount: bursar.Units(500)}}}
				r.chain.Pay(chain.Payment{Address: bursar.Address{Base: base}, Contract: token.Contract, Amount: bursar.Units(500)})
				if _, err := outgoing.InsertSweep(ctx, tx, r.chain.Capabilities().ID, order, "TOKEN"); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

package audit_test

import (
	"log/slog"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// BenchmarkCatchUp audits links of one entry each, the most work that an entry can cause the audit.
func BenchmarkCatchUp(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, url(b))
			registry, err := bursar.NewRegistry(bursar.Standard())
			if err != nil {
				b.Fatal(err)
			}
			auditor := &audit.Auditor{DB: db, Registry: registry, Log: slog.New(slog.DiscardHandler)}
			for i := range b.N {
				d := bursar.Deposit{ID: bursar.ID{0: 1, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}, Currency: "BTC",
					Amount: bursar.Units(7)}
				d.AccountID = bursar.ID{0: 2, 15: byte(i)}
				if err := db.Do(ctx, func(tx *store.Tx) error {
					return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()))
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			if err := auditor.CatchUp(ctx); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "links/s")
		})
	}
}

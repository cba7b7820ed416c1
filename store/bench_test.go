package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// clients is how many goroutines post at the same time.
const clients = 64

var databases = map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}

// benchmarkTransfers posts deposits of random customers at 64 clients; each moves between a customer's account and
// the one custody account, which all of them wait for.
func benchmarkTransfers(b *testing.B, post func(db *store.DB) func(ledger.Entry) error) {
	for name, url := range databases {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, url(b))
			do := post(db)
			var next atomic.Uint64
			b.SetParallelism(clients / 2) // GOMAXPROCS is 2 on the machine of docs/performance.md
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := next.Add(1)
					id := bursar.ID{8: byte(n >> 24), 9: byte(n >> 16), 10: byte(n >> 8), 11: byte(n)}
					d := bursar.Deposit{
						ID:        id,
						AccountID: bursar.ID{0: 1, 15: byte(n % 100)},
						Currency:  "BTC",
						Amount:    bursar.Units(n),
					}
					if err := do(ledger.DepositCredited(d, db.Now())); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transfers/s")
		})
	}
}

func BenchmarkTransfersOneByOne(b *testing.B) {
	benchmarkTransfers(b, func(db *store.DB) func(ledger.Entry) error {
		return func(e ledger.Entry) error {
			return db.Do(context.Background(), func(tx *store.Tx) error { return tx.Ledger().Post(context.Background(), e) })
		}
	})
}

func BenchmarkTransfersGathered(b *testing.B) {
	benchmarkTransfers(b, func(db *store.DB) func(ledger.Entry) error {
		batch := store.NewBatch(db,
			func(ctx context.Context, tx *store.Tx, entries []ledger.Entry) ([]store.Result[struct{}], error) {
				errs, err := tx.Ledger().PostEach(ctx, entries)
				results := make([]store.Result[struct{}], len(entries))
				for i := range errs {
					results[i].Err = errs[i]
				}
				return results, err
			})
		return func(e ledger.Entry) error { _, err := batch.Do(context.Background(), e); return err }
	})
}

// BenchmarkInsertWallets is the bare insert that creating wallets over HTTP is measured against.
func BenchmarkInsertWallets(b *testing.B) {
	for name, url := range databases {
		for _, size := range []int{1, 200} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				db := storetest.Open(b, url(b))
				account := bursar.ID{1}
				insert(b, db, func(tx *store.Tx) error {
					return tx.Accounts().Insert(context.Background(), bursar.Account{ID: account, Name: "a", CreatedAt: tx.Now()})
				})
				ids := bursar.NewIDs(db.Now, nil)
				b.ResetTimer()
				for n := 0; n < b.N; n += size {
					insert(b, db, func(tx *store.Tx) error { return insertWallets(tx, ids, account, size) })
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "wallets/s")
			})
		}
	}
}

func insert(b *testing.B, db *store.DB, f func(tx *store.Tx) error) {
	b.Helper()
	if err := db.Do(context.Background(), f); err != nil {
		b.Fatal(err)
	}
}

func insertWallets(tx *store.Tx, ids *bursar.IDs, account bursar.ID, n int) error {
	ctx := context.Background()
	number, err := tx.Wallets().TakeNumbers(ctx, n)
	if err != nil {
		return err
	}
	index, err := tx.KeyIndexes().Take(ctx, "bitcoin", n)
	if err != nil {
		return err
	}
	list := make([]bursar.Wallet, n)
	for i := range list {
		list[i] = bursar.Wallet{
			Number:    number + int64(i),
			ID:        ids.Next(),
			AccountID: account,
			Currency:  "BTC",
			Family:    "bitcoin",
			Index:     index + uint32(i),
			Address:   bursar.Address{Base: fmt.Sprintf("bc1qxxxxxxxxxxxxxxxxxxxxxxxxxxxx%010d", index+uint32(i))},
			Webhook:   "https://receiver.example/hook",
			CreatedAt: tx.Now(),
		}
	}
	return tx.Wallets().Insert(ctx, list)
}

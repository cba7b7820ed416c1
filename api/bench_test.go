package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// clients is the number of concurrent clients.
const clients = 64

var databases = map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}

// BenchmarkCreateWallet creates wallets over HTTP at 64 clients, with and without an Idempotency-Key.
func BenchmarkCreateWallet(b *testing.B) {
	for _, key := range []string{"plain", "idempotent"} {
		for name, url := range databases {
			b.Run(key+"/"+name, func(b *testing.B) {
				newHarness(b, url(b), newClock()).createWallets(b, "BTC", key == "idempotent")
			})
		}
	}
}

// BenchmarkCreatePooledWallet does the same with real keys: those of BTC are derived while it runs, those of SOL come
// from the pool, which is filled while it runs.
func BenchmarkCreatePooledWallet(b *testing.B) {
	for _, currency := range []string{"BTC", "SOL"} {
		for name, url := range databases {
			b.Run(currency+"/"+name, func(b *testing.B) {
				s, pool := newPooledHarness(b, url(b))
				wake := make(chan struct{}, 1)
				s.config.Wallets.Pooled = func() {
					select {
					case wake <- struct{}{}:
					default:
					}
				}
				pool.Wake = wake
				if err := pool.Step(b.Context()); err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan error, 1)
				go func() { done <- pool.Run(ctx) }()
				s.createWallets(b, currency, false)
				cancel()
				<-done
			})
		}
	}
}

// createWallets creates b.N wallets.
func (s *harness) createWallets(b *testing.B, currency string, idempotent bool) {
	mine := s.account(false)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	client := &http.Client{Transport: transport}
	b.Cleanup(transport.CloseIdleConnections)
	var next atomic.Int64
	b.SetParallelism(clients / 2) // GOMAXPROCS is 2 on the machine of docs/performance.md
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.base+"/api/v1/wallet",
				strings.NewReader(`{"currency":"`+currency+`","webhook":"https://shop.example/hook","metadata":"order"}`))
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("X-API-KEY", mine.APIKey)
			r.Header.Set("Content-Type", "application/json")
			if idempotent {
				r.Header.Set("Idempotency-Key", fmt.Sprint(next.Add(1)))
			}
			response, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				b.Errorf("status %d, want %d", response.StatusCode, http.StatusOK)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "wallets/s")
}

// BenchmarkInsertWallet writes the same rows straight into the store, one or 200 in each transaction.
func BenchmarkInsertWallet(b *testing.B) {
	for _, batch := range []int{1, 200} {
		for name, url := range databases {
			b.Run(fmt.Sprintf("batch=%d/%s", batch, name), func(b *testing.B) {
				s := newHarness(b, url(b), newClock())
				mine := s.account(false)
				b.ResetTimer()
				for written := 0; written < b.N; written += batch {
					s.do(func(tx *store.Tx) error { return s.insert(tx, mine.AccountID, min(batch, b.N-written)) })
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "wallets/s")
			})
		}
	}
}

func (s *harness) insert(tx *store.Tx, account bursar.ID, n int) error {
	ctx := context.Background()
	number, err := tx.Wallets().TakeNumbers(ctx, n)
	if err != nil {
		return err
	}
	index, err := tx.KeyIndexes().Take(ctx, "bc", n)
	if err != nil {
		return err
	}
	wallets := make([]bursar.Wallet, n)
	for i := range wallets {
		wallets[i] = bursar.Wallet{Number: number + int64(i), ID: s.ids.Next(), AccountID: account, Currency: "BTC",
			Family: "bc", Index: index + uint32(i),
			Address: bursar.Address{Base: fmt.Sprintf("bc1%048x", index+uint32(i))}, Webhook: "https://shop.example/hook",
			Metadata: "order", CreatedAt: tx.Now()}
	}
	return tx.Wallets().Insert(ctx, wallets)
}

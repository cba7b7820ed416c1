package follow_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// far is a chain whose nodes have a given latency and return a given number of blocks at once.
type far struct {
	*sim.Chain
	latency time.Duration
	limit   int
}

func (f far) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if f.latency > 0 {
		timer := time.NewTimer(f.latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return f.Chain.After(ctx, last, min(limit, f.limit), watch)
}

// BenchmarkCatchUp follows 2,000 blocks with a deposit in every tenth, from nodes with a latency for each window: block
// by block as at the tip, in windows that are read after the previous one is recorded, and in windows that are read
// ahead.
func BenchmarkCatchUp(b *testing.B) {
	for _, database := range []string{"sqlite", "postgres"} {
		for _, latency := range []time.Duration{0, 50 * time.Millisecond, 400 * time.Millisecond} {
			for _, way := range []string{"single", "windows", "ahead"} {
				if way == "single" && latency > 0 {
					continue // it takes minutes and proves nothing
				}
				b.Run(fmt.Sprintf("%s/%s/%s", database, latency, way), func(b *testing.B) { catchUp(b, database, latency, way) })
			}
		}
	}
}

const benchBlocks = 2000

func catchUp(b *testing.B, database string, latency time.Duration, way string) {
	b.StopTimer()
	for range b.N {
		f, lease := benchFollower(b, database,
			far{latency: latency, limit: map[string]int{"single": 1, "windows": 64, "ahead": 64}[way]})
		b.StartTimer()
		if way == "ahead" {
			running, cancel := context.WithCancel(ctx)
			done := make(chan error, 1)
			f.Chain = signalling{f.Chain.(far), f.DB, cancel}
			go func() { done <- f.Run(running, lease) }()
			<-done
		} else {
			for more := true; more; {
				var err error
				if more, err = f.Step(ctx, lease); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.StopTimer()
	}
	b.ReportMetric(float64(benchBlocks*b.N)/b.Elapsed().Seconds(), "blocks/s")
}

// signalling ends the benchmark when the head is asked for and everything is recorded.
type signalling struct {
	far
	db  *store.DB
	end func()
}

func (s signalling) Head(ctx context.Context) (chain.Head, error) {
	err := s.db.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, bursar.Ethereum)
		if state.Height == benchBlocks {
			s.end()
		}
		return err
	})
	if err != nil {
		return chain.Head{}, err
	}
	return s.far.Head(ctx)
}

func benchFollower(b *testing.B, database string, c far) (*follow.Follower, store.Lease) {
	b.Helper()
	url := storetest.SQLite(b)
	if database == "postgres" {
		url = storetest.Postgres(b)
	}
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	c.Chain = sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3})
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8,
		Minimum: bursar.Units(1000)}})
	if err != nil {
		b.Fatal(err)
	}
	f := follower.Follow(follower.Following{DB: db, Chain: c, Registry: registry, IDs: bursar.NewIDs(db.Now, nil),
		Log: slog.New(slog.DiscardHandler), Hot: "hot", OperatorAddress: "hot", Pace: time.Millisecond})
	f.Start = new(uint64)
	var lease store.Lease
	err = db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Ethereum); err != nil {
			return err
		}
		if err := tx.Accounts().Insert(ctx, bursar.Account{ID: bursar.ID{1}, Name: "a", CreatedAt: tx.Now(),
			WebhookGeneration: 1}); err != nil {
			return err
		}
		if _, err := tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		w := bursar.Wallet{Number: 1, ID: bursar.ID{2}, AccountID: bursar.ID{1}, Currency: "COIN", Family: "evm",
			Address: bursar.Address{Base: c.Named("wallet")},
			Webhook: "https://receiver.example/", CreatedAt: tx.Now()}
		if err := tx.Wallets().Insert(ctx, []bursar.Wallet{w}); err != nil {
			return err
		}
		lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "one", 1<<50)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range benchBlocks {
		if i%10 == 0 {
			c.Pay(chain.Payment{Address: bursar.Address{Base: c.Named("wallet")}, Amount: bursar.Units(5000)})
		}
		c.Mine(1)
	}
	return f.Follower, lease
}

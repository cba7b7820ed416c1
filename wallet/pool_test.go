package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

func newPool(db *store.DB, keys wallet.Keys, size int) *wallet.Pool {
	return &wallet.Pool{DB: db, Keys: keys, Families: []bursar.Family{"solana"}, Size: size,
		Log: slog.New(slog.DiscardHandler)}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noSeed are the keys of a process that fail the test where a key is requested that only the seed can derive.
type noSeed struct {
	testing.TB
	public wallet.Keys
}

func (k noSeed) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	if ref.Family == chain.FamilySolana {
		k.Errorf("the key at %+v was asked for", ref)
	}
	return k.public.Public(ref)
}

// A process that has only exported public keys creates wallets of every currency once the pool is filled.
func TestEveryCurrencyWithoutTheSeed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		seed := seedOf(t, 1)
		must(t, newPool(db, seed, 100).Prime(ctx))
		exported, err := signer.FromPublic(seed.ExportPublic())
		must(t, err)
		c := newCounter(t, db, noSeed{t, exported})
		c.open()
		var group sync.WaitGroup
		for _, currency := range bursar.Standard() {
			for range 20 {
				group.Go(func() {
					if _, err := c.create(currency.Code); err != nil {
						t.Errorf("%s: %v", currency.Code, err)
					}
				})
			}
		}
		group.Wait()
		var made []bursar.Wallet
		made, err = c.List(ctx, c.account, "SOL", store.Page{Limit: 100})
		must(t, err)
		if indexes := c.wantDerived(seed, made); len(indexes) != 20 || !indexes[0] || !indexes[19] {
			t.Errorf("the indexes are %v", indexes)
		}
		if s := c.pool(); s.Next != 20 || s.Ready != 80 {
			t.Errorf("the pool is %+v, want 20 and 80", s)
		}
	})
}

// An empty pool refuses its own currency only, temporarily and with an alarm; after a refill the indexes continue
// without a gap.
func TestAnEmptyPoolRefusesWallets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		seed := seedOf(t, 1)
		c := newCounter(t, db, noSeed{t, seed})
		c.open()
		pool := newPool(db, seed, 7)
		must(t, pool.Prime(ctx))
		var others sync.WaitGroup
		others.Go(func() {
			if made, refused := c.createMany("BTC", 30); len(made) != 30 {
				t.Errorf("of BTC %d are made, %d refused, want 30", len(made), refused)
			}
		})
		first, refused := c.createMany("SOL", 20)
		others.Wait()
		if len(first) != 7 || refused != 13 {
			t.Fatalf("of 7 keys %d wallets are made, %d are refused, want 7 of them and 13", len(first), refused)
		}
		if got := c.alarms(); len(got) != 1 || got[0] != "address_pool_empty solana" {
			t.Fatalf("the alarms are %q, want 1 of them and %q", got, "address_pool_empty solana")
		}
		must(t, pool.Step(ctx))
		if got := c.alarms(); len(got) != 0 {
			t.Fatalf("after the refill the alarms are %q, want none", got)
		}
		second, refused := c.createMany("SOL", 7)
		if indexes := c.wantDerived(seed, append(first, second...)); len(indexes) != 14 || refused != 0 || !indexes[13] {
			t.Fatalf("the indexes are %v, %d refused", indexes, refused)
		}
	})
}

// The pool is not touched until half of it is used, then filled up, and used keys are removed.
func TestRefill(t *testing.T) {
	t.Parallel()
	seed := seedOf(t, 1)
	c := newCounter(t, storetest.Open(t, storetest.Reused(t)), seed)
	c.open()
	pool := newPool(c.db, seed, 10)
	for _, step := range []struct {
		create      int
		ready       uint32
		first, next uint32
	}{{0, 10, 0, 0}, {5, 5, 0, 5}, {1, 10, 6, 6}, {10, 10, 16, 16}} {
		made, _ := c.createMany("SOL", step.create)
		must(t, pool.Step(ctx))
		if s := c.pool(); len(made) != step.create || s.Ready != step.ready || s.First.Index != step.first ||
			s.Next != step.next {
			t.Fatalf("after %d of %d: %+v, from %+v", len(made), step.create, s, s.First)
		}
	}
}

// A pool starts after the indexes of wallets that were made before there was a pool.
func TestPoolOfAnOlderDatabase(t *testing.T) {
	t.Parallel()
	seed := seedOf(t, 1)
	c := newCounter(t, storetest.Open(t, storetest.Reused(t)), seed)
	c.open()
	must(t, c.db.Do(ctx, func(tx *store.Tx) error {
		_, err := tx.KeyIndexes().Take(ctx, "solana", 1234)
		return err
	}))
	must(t, newPool(c.db, seed, 2500).Step(ctx)) // several chunks
	if s := c.pool(); s.First.Index != 1234 || s.Ready != 2500 {
		t.Fatalf("%+v from %+v, want 1234 and 2500", s, s.First)
	}
	w, err := c.create("SOL")
	must(t, err)
	if c.wantDerived(seed, []bursar.Wallet{w}); w.Index != 1234 {
		t.Fatalf("the wallet has index %d, want 1234", w.Index)
	}
}

// A pool that was filled with another seed is refused before it is used, whichever end of it is wrong.
func TestAPoolOfAnotherSeedIsRefused(t *testing.T) {
	t.Parallel()
	mine, other := seedOf(t, 1), seedOf(t, 2)
	for name, fill := range map[string][]wallet.Keys{"all": {other}, "the end": {mine, other},
		"the beginning": {other, mine}} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Open(t, storetest.Reused(t))
			for i, keys := range fill {
				must(t, newPool(db, keys, 10*(i+1)).Fill(ctx, "solana", 10*(i+1)))
			}
			if err := newPool(db, mine, 10).Verify(ctx); !errors.Is(err, wallet.ErrOtherPool) {
				t.Errorf("it is taken: %v, want %v", err, wallet.ErrOtherPool)
			}
		})
	}
	db := storetest.Open(t, storetest.Reused(t))
	pool := newPool(db, mine, 10)
	must(t, pool.Verify(ctx)) // an empty pool is of no seed
	must(t, pool.Prime(ctx))
	must(t, pool.Verify(ctx))
}

// Replicas that fill one pool and take keys from it at the same time give out every index exactly once, and wait for
// each other no longer than necessary.
func TestReplicasShareAPool(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		seed := seedOf(t, 1)
		newCounter(t, db, seed).open()
		const replicas, each = 2, 120
		var group sync.WaitGroup
		var mu sync.Mutex
		var all []bursar.Wallet
		for range replicas {
			db := storetest.Open(t, storetest.URL(db)) // as another process has it
			c, pool := newCounter(t, db, noSeed{t, seed}), newPool(db, seed, 60)
			must(t, pool.Prime(ctx))
			done := make(chan struct{})
			group.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						if err := pool.Fill(ctx, "solana", 60); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
			group.Go(func() {
				defer close(done)
				for made := 0; made < each; {
					wallets, _ := c.createMany("SOL", min(40, each-made))
					made += len(wallets)
					mu.Lock()
					all = append(all, wallets...)
					mu.Unlock()
					if t.Failed() {
						return
					}
				}
			})
		}
		group.Wait()
		c := newCounter(t, db, seed)
		if indexes := c.wantDerived(seed, all); len(indexes) != replicas*each || !indexes[replicas*each-1] {
			t.Fatalf("%d wallets have %d indexes", len(all), len(indexes))
		}
		if s := c.pool(); s.Next != replicas*each {
			t.Fatalf("the pool is %+v, want %v", s, replicas*each)
		}
	})
}

// Run fills the pool by itself whenever it is woken.
func TestRunKeepsThePoolFull(t *testing.T) {
	t.Parallel()
	seed := seedOf(t, 1)
	c := newCounter(t, storetest.Open(t, storetest.Reused(t)), seed)
	c.open()
	wake := make(chan struct{}) // anyone who sends knows that the step before is over
	c.Pooled = func() { wake <- struct{}{} }
	pool := newPool(c.db, seed, 20)
	pool.Wake = wake
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(running) }()
	wake <- struct{}{} // the first step is over
	for i := range 50 {
		w, err := c.create("SOL")
		must(t, err)
		if w.Index != uint32(i) {
			t.Fatalf("wallet %d has index %d", i, w.Index)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// A pool that cannot be filled logs an error and does not end the process.
func TestPoolWithoutASeed(t *testing.T) {
	t.Parallel()
	exported, err := signer.FromPublic(seedOf(t, 1).ExportPublic())
	must(t, err)
	pool := newPool(storetest.Open(t, storetest.Reused(t)), exported, 10)
	if err := pool.Step(ctx); !errors.Is(err, signer.ErrNeedsSeed) {
		t.Fatal(fmt.Errorf("it is filled: %w", err))
	}
	must(t, pool.Verify(ctx)) // there is nothing to compare
}

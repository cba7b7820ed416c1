package wallet_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// families are the simulated chains; Solana is the real adapter, which asks no node for an address.
var families = map[bursar.ChainID]sim.Config{
	bursar.Bitcoin: {Family: "bitcoin"}, bursar.Litecoin: {Family: "litecoin"}, bursar.Ethereum: {Family: "evm"},
	bursar.BSC:     {Family: "evm"},
	bursar.Polygon: {Family: "evm"}, bursar.Tron: {Family: "tron"}, bursar.XRPL: {Family: "xrpl", SharedAddress: true},
}

func seedOf(t testing.TB, first byte) *signer.Keys {
	t.Helper()
	seed := make([]byte, 64)
	seed[0] = first
	keys, err := signer.KeysFromSeed(seed, signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// counter is a process that creates wallets.
type counter struct {
	testing.TB
	*wallet.Service
	db      *store.DB
	solana  *solana.Chain
	account bursar.ID
}

// newCounter starts a counter with the keys from which it derives.
func newCounter(t testing.TB, db *store.DB, keys wallet.Keys) *counter {
	t.Helper()
	c := &counter{TB: t, db: db, account: bursar.ID{0: 1, 15: 7}}
	chains := map[bursar.ChainID]wallet.Chain{}
	currencies := bursar.Standard()
	for id, config := range families {
		config.ID = id
		s := sim.New(config)
		chains[id] = s
		for i := range currencies {
			if currencies[i].Chain == id && currencies[i].IsToken() {
				currencies[i].Contract = s.Named(string(currencies[i].Code))
			}
		}
	}
	var err error
	if c.solana, err = solana.New(solana.Private(), rpc.Config{URLs: []string{"http://127.0.0.1:1"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.solana.Close)
	chains[bursar.Solana] = c.solana
	registry, err := bursar.NewRegistry(currencies)
	if err != nil {
		t.Fatal(err)
	}
	c.Service = wallet.NewService(db, keys, chains, registry, bursar.NewIDs(db.Now, nil), netpolicy.Receivers{})
	return c
}

func (c *counter) open() {
	c.Helper()
	err := c.db.Do(ctx, func(tx *store.Tx) error {
		return tx.Accounts().Insert(ctx, bursar.Account{ID: c.account, Name: "a", CreatedAt: tx.Now(), WebhookGeneration: 1})
	})
	if err != nil {
		c.Fatal(err)
	}
}

func (c *counter) create(code bursar.CurrencyCode) (bursar.Wallet, error) {
	return c.Create(ctx, wallet.New{Account: c.account, Currency: code, Webhook: "https://receiver.example"})
}

// createMany creates wallets at the same time and returns the created ones and how many were refused as unavailable.
func (c *counter) createMany(code bursar.CurrencyCode, n int) (made []bursar.Wallet, refused int) {
	c.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	for range n {
		group.Go(func() {
			w, err := c.create(code)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, w)
				return
			}
			var refusal *bursar.Error
			if !errors.As(err, &refusal) || refusal.Code != bursar.CodeUnavailable {
				c.Errorf("%s: %v", code, err)
			}
			refused++
		})
	}
	group.Wait()
	return made, refused
}

// wantDerived checks that wallets have the addresses that the seed derives at their indexes, and returns the indexes.
func (c *counter) wantDerived(keys wallet.Keys, wallets []bursar.Wallet) map[uint32]bool {
	c.Helper()
	indexes := map[uint32]bool{}
	for _, w := range wallets {
		pub, err := keys.Public(chain.KeyRef{Family: "solana", Index: w.Index})
		if err != nil {
			c.Fatal(err)
		}
		address, err := c.solana.Address(pub, 0)
		if err != nil || address != w.Address || indexes[w.Index] {
			c.Errorf("wallet %d is at %s, the seed says %s (%v); index used before: %t", w.Index, w.Address.Base, address.Base,
				err, indexes[w.Index])
		}
		indexes[w.Index] = true
	}
	return indexes
}

func (c *counter) alarms() (kinds []string) {
	c.Helper()
	err := c.db.View(ctx, func(tx *store.Tx) error {
		open, err := tx.Alarms().List(ctx, 10)
		for _, a := range open {
			kinds = append(kinds, a.Kind+" "+a.Ref)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return kinds
}

func (c *counter) pool() (s store.PoolState) {
	c.Helper()
	err := c.db.View(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.KeyPool().State(ctx, "solana")
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return s
}

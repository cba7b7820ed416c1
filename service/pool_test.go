package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

// newSolana assembles a service of Solana only, whose node is unreachable.
func newSolana(t *testing.T, db *store.DB, seed byte) *service.Service {
	t.Helper()
	node, err := solana.New(solana.Private(), rpc.Config{URLs: []string{"http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	keys, err := signer.KeysFromSeed(append(make([]byte, 63), seed), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	sol := bursar.Currency{Code: "SOL", Chain: bursar.Solana, Decimals: 9, Places: 8}
	registry, err := bursar.NewRegistry([]bursar.Currency{sol})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond, Holder: "a",
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1)}}, AdminListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A running service fills its pool by itself, up to its full size, and exports how much is left.
func TestTheServiceKeepsItsPool(t *testing.T) {
	t.Parallel()
	s := newSolana(t, storetest.Open(t, storetest.Reused(t)), 1)
	issued, err := s.Accounts.Create(ctx, "shop", false)
	if err != nil {
		t.Fatal(err)
	}
	order := wallet.New{Account: issued.AccountID, Currency: "SOL", Webhook: "https://receiver.example"}
	var refusal *bursar.Error
	if _, err := s.Wallets.Create(ctx, order); !errors.As(err, &refusal) || refusal.Code != bursar.CodeUnavailable {
		t.Fatalf("before it runs, a wallet ends with %v", err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	eventually(t, "the pool is full", func() bool {
		return strings.Contains(get(t, s.Address("admin")+"/metrics"), `bursar_address_pool_left{family="solana"} 10000`)
	})
	if metrics := get(t, s.Address("admin")+"/metrics"); strings.Contains(metrics, "address_pool_empty") {
		t.Errorf("the alarm is still open:\n%s", metrics)
	}
	for range 3 {
		if _, err := s.Wallets.Create(ctx, order); err != nil {
			t.Fatal(err)
		}
	}
	if metrics := get(t, s.Address("admin")+
		"/metrics"); !strings.Contains(metrics, `bursar_address_pool_left{family="solana"} 9997`) {
		t.Errorf("three wallets later the metrics are\n%s, want %q in it", metrics,
			`bursar_address_pool_left{family="solana"} 9997`)
	}
}

// A service does not run with a pool that another seed filled.
func TestAPoolOfAnotherSeedStopsTheService(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	if err := newSolana(t, db, 1).Pool.Prime(ctx); err != nil {
		t.Fatal(err)
	}
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := newSolana(t, db, 2).Run(bounded); !errors.Is(err, wallet.ErrOtherPool) {
		t.Fatalf("it ends with %v, want %v", err, wallet.ErrOtherPool)
	}
}

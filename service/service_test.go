package service_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// native is the one currency of these tests.
var native = bursar.Currency{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
	WithdrawalMinimum: bursar.Units(1000), WithdrawalFee: bursar.Fee{Network: true}}

// start runs a replica of the service over a database and a chain until the returned function ends it.
func start(t *testing.T, url string, node *sim.Chain) (*service.Service, func()) {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, url)
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond,
		LeaseTTL: 400 * time.Millisecond,
		Holder:   bursar.NewIDs(db.Now, nil).Next().String(),
		Chains:   []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		t.Fatal(err)
	}
	return s, run(t, s)
}

// run runs a service until the returned function, or the test, ends it.
func run(t *testing.T, s *service.Service) (stop func()) {
	t.Helper()
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the service ended with %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// newClock returns a clock that runs from the start of the simulated chains, so that blocks are not older than
// addresses.
func newClock() *clocktest.Clock {
	return clocktest.Running(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// open opens a database under a clock of its own.
func open(t *testing.T, url string) *store.DB {
	t.Helper()
	return storetest.OpenAt(t, url, newClock().Now)
}

// eventually waits until a condition holds, and fails the test when it takes too long.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for tick := time.NewTicker(10 * time.Millisecond); !holds(); {
		select {
		case <-deadline:
			t.Fatalf("timeout: want that %s", what)
		case <-tick.C:
		}
	}
}

func available(t *testing.T, db *store.DB, account bursar.ID) bursar.Amount {
	t.Helper()
	var b ledger.Balance
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Available(account), native.Code)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	amount, _ := b.Net(ledger.Liability)
	return amount
}

// Two replicas share a database. Whichever holds the lease, every deposit is credited once and every withdrawal is paid
// once, even if the holder ends in the middle.
func TestReplicasShareTheWork(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		url := storetest.URL(db)
		node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2, MaxPayments: 3})
		first, endFirst := start(t, url, node)
		second, _ := start(t, url, node)
		issued, err := first.Accounts.Create(ctx, "shop", true)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "a replica follows the chain", func() bool {
			states, err := first.ChainStatus(ctx)
			return err == nil && len(states) == 1 && states[0].Height >= 0
		})
		w, err := second.Wallets.Create(ctx, wallet.New{Account: issued.AccountID, Currency: native.Code,
			Webhook: "https://receiver.example"})
		if err != nil {
			t.Fatal(err)
		}
		node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(1_000_000_000)})
		node.Pay(chain.Payment{Address: bursar.Address{Base: first.Hot(bursar.Bitcoin).Base},
			Amount: bursar.Units(1_000_000_000)})
		node.Mine(2)
		eventually(t, "the deposit is credited", func() bool { return !available(t, db, issued.AccountID).IsZero() })
		if got := available(t, db, issued.AccountID); got != bursar.Units(1_000_000_000) {
			t.Fatalf("available is %s, want %v", got, bursar.Units(1_000_000_000))
		}
		const orders = 12
		var group sync.WaitGroup
		for i := range orders {
			group.Go(func() {
				replica := []*service.Service{first, second}[i%2]
				_, err := replica.Withdrawals.Request(ctx,
					withdrawal.Request{Account: issued.AccountID, Currency: native.Code, Amount: "0.1",
						Address: node.Named(fmt.Sprint("outside ", i))})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		endFirst()
		eventually(t, "every withdrawal is confirmed", func() bool {
			node.Mine(1)
			list, err := second.Withdrawals.List(ctx, issued.AccountID, store.Page{Limit: 100})
			done := 0
			for _, w := range list {
				if w.Status == bursar.WithdrawalConfirmed {
					done++
				}
			}
			return err == nil && done == orders
		})
		for i := range orders {
			if got := node.Balance(node.Named(fmt.Sprint("outside ", i)), ""); got != bursar.Units(10_000_000) {
				t.Errorf("receiver %d holds %s, want %v", i, got, bursar.Units(10_000_000))
			}
		}
		lines, err := second.Reconcile(ctx, false)
		if err != nil || len(lines) != 1 || !lines[0].Balanced() {
			t.Errorf("the books and the chain: %+v, %v", lines, err)
		}
	})
}

// A chain with an unreachable node still issues addresses, and blocks nothing else.
func TestAnUnreachableChainStillIssuesAddresses(t *testing.T) {
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
	node.Fail(sim.Head, 1_000_000, sim.ErrNode)
	s, _ := start(t, storetest.SQLite(t), node)
	issued, err := s.Accounts.Create(ctx, "shop", false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Wallets.Create(ctx, wallet.New{Account: issued.AccountID, Currency: native.Code,
		Webhook: "https://receiver.example"})
	if err != nil {
		t.Fatal(err)
	}
	node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(5_000_000)})
	node.Mine(1)
	node.ClearFaults()
	eventually(t, "what was paid in the meantime is credited", func() bool {
		node.Mine(1)
		return available(t, s.DB, issued.AccountID) == bursar.Units(5_000_000)
	})
}

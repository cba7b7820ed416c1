package service_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
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

// broken is a chain whose tokens may differ from the configuration.
type broken struct {
	*sim.Chain
	mu       sync.Mutex
	problems []chain.AssetProblem
}

func (b *broken) CheckAssets(context.Context) []chain.AssetProblem {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.problems
}

func (b *broken) set(problems ...chain.AssetProblem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = problems
}

func (f *twoCurrencies) has(account bursar.ID, code bursar.CurrencyCode) bursar.Amount {
	f.Helper()
	var b ledger.Balance
	err := f.service.DB.View(ctx, func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Available(account), code)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	amount, _ := b.Net(ledger.Liability)
	return amount
}

// twoCurrencies is a service with a native asset, COIN, and a token, DOLLAR.
type twoCurrencies struct {
	*testing.T
	service *service.Service
	node    *broken
	account bursar.ID
}

func openTwo(t *testing.T, url string, node *broken, tokens bool) *twoCurrencies {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	list := []bursar.Currency{{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
		WithdrawalMinimum: bursar.Units(1000)}}
	if tokens {
		list = append(list, bursar.Currency{Code: "DOLLAR", Chain: bursar.Ethereum, Contract: node.Named("dollar"),
			Decimals: 6, Places: 2,
			Minimum: bursar.Units(1000), WithdrawalMinimum: bursar.Units(1000)})
	}
	registry, err := bursar.NewRegistry(list)
	if err != nil {
		t.Fatal(err)
	}
	p := &twoCurrencies{T: t, node: node}
	p.service, err = service.New(service.Parts{DB: open(t, url), Keys: keys, Registry: registry,
		Pace: 10 * time.Millisecond, LeaseTTL: 400 * time.Millisecond,
		Holder: "a", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *twoCurrencies) wallet(code bursar.CurrencyCode) (bursar.Wallet, error) {
	return f.service.Wallets.Create(ctx, wallet.New{Account: f.account, Currency: code,
		Webhook: "https://receiver.example"})
}

// open returns how many payments of DOLLAR are in progress.
func (f *twoCurrencies) open() (n int) {
	f.Helper()
	err := f.service.DB.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Outgoing().Open(ctx, bursar.Ethereum, 1000)
		for _, one := range list {
			if one.Base == f.service.Hot(bursar.Ethereum).Base && one.Currency == "DOLLAR" {
				n++
			}
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return n
}

func (f *twoCurrencies) alarms() (kinds []string) {
	f.Helper()
	err := f.service.DB.View(ctx, func(tx *store.Tx) error {
		open, err := tx.Alarms().List(ctx, 100)
		for _, a := range open {
			kinds = append(kinds, a.Kind+" "+a.Ref+" "+a.Message)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return kinds
}

// A token that differs from the configuration is neither credited nor paid, says what to do, and stops nothing else; a
// currency that is removed while deposits and withdrawals of it wait does the same.
func TestOneCurrencyStopsAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		url := storetest.URL(db)
		node := &broken{Chain: sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel,
			Confirmations: 2})}
		p := openTwo(t, url, node, true)
		end := run(t, p.service)
		issued, err := p.service.Accounts.Create(ctx, "shop", true)
		if err != nil {
			t.Fatal(err)
		}
		p.account = issued.AccountID
		paidTo, err := p.wallet("COIN")
		if err != nil {
			t.Fatal(err)
		}
		dollars, err := p.wallet("DOLLAR")
		if err != nil {
			t.Fatal(err)
		}
		pay := func(w bursar.Wallet, contract string, units uint64) {
			node.Pay(chain.Payment{Address: w.Address, Contract: contract, Amount: bursar.Units(units)})
		}
		eventually(t, "the first deposits are credited", func() bool {
			if node.Mine(1).Height == 3 {
				pay(paidTo, "", 50_000_000)
				pay(dollars, node.Named("dollar"), 9_000_000)
			}
			return !p.has(p.account, "COIN").IsZero() && p.has(p.account, "DOLLAR") == bursar.Units(9_000_000)
		})

		order := func(code bursar.CurrencyCode) {
			_, err := p.service.Withdrawals.Request(ctx,
				withdrawal.Request{Account: p.account, Currency: code, Amount: "0.1", Address: node.Named("outsider")})
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 2 * node.Capabilities().MaxPending { // more than may wait, and the hot wallet cannot pay them
			order("DOLLAR")
		}
		eventually(t, "as many as allowed are in progress", func() bool {
			return p.open() >= node.Capabilities().MaxPending/2
		})

		node.set(chain.AssetProblem{Contract: node.Named("dollar"),
			What: "it has 18 decimals and 6 are configured; correct decimals"})
		p.service.CheckAssets(ctx, bursar.Ethereum)
		if open := p.alarms(); !slices.ContainsFunc(open, func(a string) bool {
			return strings.HasPrefix(a, "currency_suspended DOLLAR ") && strings.Contains(a, "correct decimals")
		}) {
			t.Fatalf("the alarms are %q", open)
		}
		var refused *bursar.Error
		if _, err := p.wallet("DOLLAR"); !errors.As(err, &refused) || refused.Code != bursar.CodeUnavailable {
			t.Errorf("a wallet of a suspended currency: %v", err)
		}
		_, err = p.service.Withdrawals.Request(ctx,
			withdrawal.Request{Account: p.account, Currency: "DOLLAR", Amount: "1", Address: node.Named("outsider")})
		if !errors.As(err, &refused) || refused.Code != bursar.CodeUnavailable {
			t.Errorf("a withdrawal of a suspended currency: %v", err)
		}
		pay(dollars, node.Named("dollar"), 1_000_000)
		pay(paidTo, "", 7_000_000)
		eventually(t, "the other currency is credited", func() bool {
			node.Mine(1)
			return p.has(p.account, "COIN") == bursar.Units(57_000_000)
		})
		if got := p.has(p.account, "DOLLAR"); got != bursar.Units(7_000_000) { // 2 are withdrawn
			t.Errorf("%s of the suspended currency are available, want %v", got, bursar.Units(7_000_000))
		}
		order("COIN")
		node.Pay(chain.Payment{Address: bursar.Address{Base: p.service.Hot(bursar.Ethereum).Base},
			Amount: bursar.Units(900_000_000)})
		eventually(t, "the other currency is paid", func() bool {
			node.Mine(1)
			return node.Balance(node.Named("outsider"), "") == bursar.Units(10_000_000)
		})
		if got := node.Balance(node.Named("outsider"), node.Named("dollar")); !got.IsZero() {
			t.Errorf("%s of the suspended currency are paid, want zero", got)
		}
		end()

		p = openTwo(t, url, node, false) // the operator has removed it
		p.account = issued.AccountID
		end = run(t, p.service)
		pay(paidTo, "", 3_000_000)
		eventually(t, "the chain continues without it", func() bool {
			node.Mine(1)
			return p.has(p.account, "COIN") == bursar.Units(50_000_000)
		})
		eventually(t, "the alarm says that it is not configured", func() bool {
			return slices.ContainsFunc(p.alarms(), func(a string) bool {
				return strings.Contains(a, "DOLLAR is no longer configured")
			})
		})
		end()

		node.set()
		p = openTwo(t, url, node, true)
		p.account = issued.AccountID
		run(t, p.service)
		eventually(t, "it is credited once all is well", func() bool {
			node.Mine(1)
			return p.has(p.account, "DOLLAR") == bursar.Units(8_000_000)
		})
		eventually(t, "and paid", func() bool {
			node.Mine(1)
			return node.Balance(node.Named("outsider"), node.Named("dollar")) == bursar.Units(2_000_000)
		})
		eventually(t, "the alarm closes", func() bool {
			return !slices.ContainsFunc(p.alarms(), func(a string) bool { return strings.HasPrefix(a, "currency_suspended") })
		})
	})
}

// A token is not credited before its contract was compared once, but its addresses are issued.
func TestATokenIsCreditedOnceItIsChecked(t *testing.T) {
	t.Parallel()
	node := &broken{Chain: sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel})}
	node.Down("node", true)
	p := openTwo(t, storetest.SQLite(t), node, true)
	if reason := p.service.Suspended("DOLLAR"); reason == "" {
		t.Error("a token that was not compared is credited")
	}
	if reason := p.service.Suspended("COIN"); reason != "" {
		t.Errorf("the native asset waits: %s, want none", reason)
	}
	if p.service.CheckAssets(ctx, bursar.Ethereum) {
		t.Error("an unreachable node was asked")
	}
	issued, err := p.service.Accounts.Create(ctx, "shop", true)
	if err != nil {
		t.Fatal(err)
	}
	p.account = issued.AccountID
	if _, err := p.wallet("DOLLAR"); err != nil {
		t.Errorf("no address is issued: %v", err)
	}
	node.Down("node", false)
	if !p.service.CheckAssets(ctx, bursar.Ethereum) || p.service.Suspended("DOLLAR") != "" {
		t.Errorf("once it was asked: %q", p.service.Suspended("DOLLAR"))
	}
}

package charge_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wire"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// started is when the simulated chains begin; each block is a pace later.
var started = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

const pace = time.Minute

// rates can be changed while the service runs.
type rates map[bursar.CurrencyCode]bursar.Rate

func (r rates) Rate(code bursar.CurrencyCode) bursar.Rate { return r[code] }

// harness is the service over simulated chains, with its followers driven step by step and a clock of its own.
type harness struct {
	*service.Service
	t       *testing.T
	url     string
	clock   *bursartest.Clock
	chains  map[bursar.ChainID]*sim.Chain
	leases  map[bursar.ChainID]store.Lease
	rates   rates
	prices  *prices
	account bursar.ID
	payer   bursar.ID // another account, which has enough of BTC
}

// currencies are one with UTXOs, one whose wallets share an address, and a token with its chain's native asset.
// Deposits of BTC cost one per cent.
func currencies(chains map[bursar.ChainID]*sim.Chain) []bursar.Currency {
	return []bursar.Currency{
		{Code: "BTC", Chain: bursar.Bitcoin, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
			WithdrawalMinimum: bursar.Units(1000), DepositFee: bursar.Fee{Millionths: 10_000}},
		{Code: "XRP", Chain: bursar.XRPL, Decimals: 6, Places: 2, Minimum: bursar.Units(1000),
			WithdrawalMinimum: bursar.Units(1000), Memo: "destination tag"},
		{Code: "ETH", Chain: bursar.Ethereum, Decimals: 18, Places: 8, Minimum: bursar.Units(1000),
			WithdrawalMinimum: bursar.Units(1000)},
		{Code: "TOK", Chain: bursar.Ethereum, Contract: chains[bursar.Ethereum].Named("TOK"), Decimals: 6, Places: 2,
			Minimum: bursar.Units(1000), WithdrawalMinimum: bursar.Units(1000)},
		{Code: "BNB", Chain: bursar.BSC, Decimals: 18, Places: 8, Minimum: bursar.Units(1000),
			WithdrawalMinimum: bursar.Units(1000)},
	}
}

func newHarness(t *testing.T, url string, change ...func([]bursar.Currency)) *harness {
	t.Helper()
	r := &harness{t: t, url: url, clock: bursartest.NewClockAt(started), leases: map[bursar.ChainID]store.Lease{},
		rates: rates{}, prices: newPrices(),
		chains: map[bursar.ChainID]*sim.Chain{
			bursar.Bitcoin: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 3, Pace: pace}),
			bursar.XRPL: sim.New(sim.Config{ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel,
				SharedAddress: true, Pace: pace}),
			bursar.Ethereum: sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel,
				Confirmations: 2, Pace: pace}),
			bursar.BSC: sim.New(sim.Config{ID: bursar.BSC, Family: "evm", Spending: chain.AccountModel,
				Confirmations: 2, Pace: pace}),
		}}
	list := currencies(r.chains)
	for _, f := range change {
		f(list)
	}
	r.open(list)
	issued, err := r.Accounts.Create(ctx, "shop", true)
	r.must(err)
	r.account = issued.AccountID
	issued, err = r.Accounts.Create(ctx, "payer", true)
	r.must(err)
	r.payer = issued.AccountID
	r.do(func(tx *store.Tx) error {
		return tx.Ledger().Post(ctx,
			ledger.DepositCredited(bursar.Deposit{ID: bursar.ID{1}, AccountID: r.payer, Currency: "BTC",
				Amount: bursar.Units(1 << 40)}, tx.Now()))
	})
	r.stepAll()
	return r
}

// open starts the service on the harness's database and chains; again is a restart, perhaps with other currencies.
func (r *harness) open(list []bursar.Currency) {
	r.t.Helper()
	db := storetest.OpenAt(r.t, r.url, r.clock.Now)
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	r.must(err)
	registry, err := bursar.NewRegistry(list)
	r.must(err)
	parts := service.Parts{DB: db, Keys: keys, Registry: registry, Holder: "replica", Rates: r.rates,
		Prices: r.prices}
	for _, id := range []bursar.ChainID{bursar.Bitcoin, bursar.XRPL, bursar.Ethereum, bursar.BSC} {
		parts.Chains = append(parts.Chains, service.ChainPart{Chain: r.chains[id], MaxFee: bursar.Units(1 << 40)})
	}
	r.Service, err = service.New(parts)
	r.must(err)
	for id := range r.chains {
		r.do(func(tx *store.Tx) (err error) {
			if err := tx.Chains().Ensure(ctx, id); err != nil {
				return err
			}
			r.leases[id], _, err = tx.Leases().Acquire(ctx, id, "replica", 1<<50)
			return err
		})
	}
}

// both runs a test on either database.
func both(t *testing.T, test func(t *testing.T, r *harness)) {
	bursartest.EachURL(t, func(t *testing.T, url string) { test(t, newHarness(t, url)) })
}

func (r *harness) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *harness) do(f func(tx *store.Tx) error) {
	r.t.Helper()
	r.must(r.DB.Do(ctx, f))
}

func (r *harness) follower(id bursar.ChainID) *follow.Follower {
	r.t.Helper()
	f, err := r.Follower(id)
	r.must(err)
	return f
}

// step follows a chain until it is caught up.
func (r *harness) step(id bursar.ChainID) {
	r.t.Helper()
	for {
		more, err := r.follower(id).Step(ctx, r.leases[id])
		r.must(err)
		if !more {
			return
		}
	}
}

func (r *harness) stepAll() {
	r.t.Helper()
	for id := range r.chains {
		r.step(id)
	}
}

// height returns a chain's newest height.
func (r *harness) height(id bursar.ChainID) uint64 {
	r.t.Helper()
	head, err := r.chains[id].Head(ctx)
	r.must(err)
	return head.Latest.Height
}

// mine adds blocks one by one, each seen at its own time.
func (r *harness) mine(id bursar.ChainID, n int) {
	r.t.Helper()
	for range n {
		r.chains[id].Mine(1)
		if at := started.Add(time.Duration(r.height(id)) * pace); at.After(r.clock.Now()) {
			r.clock.Set(at)
		}
		r.step(id)
	}
}

// reorg replaces a chain's last blocks with one block more, with or without transactions.
func (r *harness) reorg(id bursar.ChainID, depth int, drop ...string) {
	r.t.Helper()
	r.chains[id].Reorg(depth, drop...)
	r.step(id)
}

// charge makes a charge.
func (r *harness) charge(code bursar.CurrencyCode, minimum uint64, life time.Duration) bursar.Charge {
	r.t.Helper()
	c, err := r.Charges.Create(ctx, charge.Request{Account: r.account, Currency: code, Minimum: bursar.Units(minimum),
		Webhook: "https://receiver.example/hook", Life: life})
	r.must(err)
	return c
}

// pay sends one transaction to a charge, with an output for each amount, and returns its hash.
func (r *harness) pay(c bursar.Charge, units ...uint64) string {
	r.t.Helper()
	currency, err := r.Registry.Get(c.Currency)
	r.must(err)
	var payments []chain.Payment
	for _, u := range units {
		payments = append(payments, chain.Payment{Address: c.Address, Contract: currency.Contract, Amount: bursar.Units(u)})
	}
	return r.chains[currency.Chain].Pay(payments...)
}

// see returns a charge as a client sees it now.
func (r *harness) see(c bursar.Charge) wire.Charge {
	r.t.Helper()
	found, err := r.Charges.Get(ctx, r.account, c.ID)
	r.must(err)
	currency, err := r.Registry.Get(c.Currency)
	r.must(err)
	return wire.NewCharge(found, currency, r.DB.Now())
}

// is checks the state of a charge; deposits is the number of deposits credited to it.
func (r *harness) is(c bursar.Charge, paid, expired bool, expires int64, deposits int) {
	r.t.Helper()
	if v := r.see(c); v.Paid != paid || v.Expired != expired || v.Expires != expires || len(v.DepositIDs) != deposits {
		r.t.Fatalf("the charge is %+v, not paid %v, expired %v, expires %d with %d deposits", v, paid, expired, expires,
			deposits)
	}
}

// balance returns what an account holds in units, and whether that is below zero.
func (r *harness) balance(account bursar.ID, code bursar.CurrencyCode) (uint64, bool) {
	r.t.Helper()
	var b ledger.Balance
	r.must(r.DB.View(ctx, func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Available(account), code)
		return err
	}))
	amount, negative := b.Net(ledger.Liability)
	units, fits := amount.Uint64()
	if !fits {
		r.t.Fatalf("the balance is %s", amount)
	}
	return units, negative
}

// holds checks the balance of the harness's account.
func (r *harness) holds(code bursar.CurrencyCode, units uint64) {
	r.t.Helper()
	if got, negative := r.balance(r.account, code); got != units || negative {
		r.t.Fatalf("the account holds %d of %s (below zero: %v), not %d", got, code, negative, units)
	}
}

// page is all of a short list.
var page = store.Page{Limit: 100}

func sqlite(t *testing.T) string { return storetest.Reused(t) }

// refusal returns an error as the refusal that it is, or nil.
func refusal(err error) *bursar.Error {
	var refused *bursar.Error
	errors.As(err, &refused)
	return refused
}

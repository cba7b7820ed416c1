package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/sweep"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// harness is one chain with all its workers, driven step by step instead of by time.
type harness struct {
	t           testing.TB
	db          *store.DB
	chain       *sim.Chain
	registry    *bursar.Registry
	currency    bursar.Currency
	keys        knownKeys
	signer      *signer.Signer
	ids         *bursar.IDs
	hot         chain.Source
	lease       store.Lease
	follower    service.Followed
	sender      *outgoing.Sender
	sweeper     *sweep.Sweeper
	wallets     *wallet.Service
	withdrawals *withdrawal.Service
	accounts    []bursar.ID
	trouble     bool // faults are injected: a step may fail
	forged      bool // somebody else has written to the database: its rows may contradict each other
}

// newHarness returns a harness over a simulated bitcoin or ethereum with three accounts.
func newHarness(t testing.TB, db *store.DB, config sim.Config) *harness {
	r := &harness{t: t, db: db, chain: sim.New(config), ids: bursar.NewIDs(db.Now, nil)}
	r.currency = bursar.Currency{Code: "COIN", Chain: config.ID, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
		WithdrawalMinimum: bursar.Units(500), WithdrawalFee: bursar.Fee{Network: true},
		DepositFee: bursar.Fee{Millionths: 10_000}}
	var err error
	r.registry, err = bursar.NewRegistry([]bursar.Currency{r.currency})
	r.must(err)
	r.keys, err = harnessKeys()
	r.must(err)
	r.signer, err = signer.New(r.keys.Keys,
		map[bursar.ChainID]signer.Policy{config.ID: {Capabilities: r.chain.Capabilities(), Signable: r.chain,
			MaxFee: bursar.Units(1 << 30)}})
	r.must(err)
	pub, err := r.keys.Public(chain.Hot(config.Family))
	r.must(err)
	address, err := r.chain.Address(pub, 0)
	r.must(err)
	r.hot = chain.Source{Key: chain.Hot(config.Family), Base: address.Base}
	for i := range byte(3) {
		id := bursar.ID{0: 1, 15: i}
		r.accounts = append(r.accounts, id)
		r.do(func(tx *store.Tx) error {
			return tx.Accounts().Insert(ctx, bursar.Account{ID: id, Name: "a", CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
	}
	r.do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, config.ID) })
	r.restart()
	file := storetest.URL(db)
	t.Cleanup(func() { r.consistent(file) })
	return r
}

// restart simulates a process that ended and another one that takes over: nothing in memory survives.
func (r *harness) restart() {
	id := r.chain.Capabilities().ID
	r.do(func(tx *store.Tx) (err error) {
		if err := tx.Leases().Release(ctx, r.lease); err != nil {
			return err
		}
		var ok bool
		r.lease, ok, err = tx.Leases().Acquire(ctx, id, r.ids.Next().String(), 1<<50)
		if err == nil && !ok {
			err = errors.New("the lease was not given")
		}
		return err
	})
	log := slog.New(slog.DiscardHandler)
	capital := r.hot.Base
	if r.chain.Capabilities().SharedAddress {
		capital = "" // a payment there without a memo belongs to no wallet
	}
	r.follower = service.Follow(service.Following{DB: r.db, Chain: r.chain, Registry: r.registry, IDs: r.ids, Log: log,
		Hot: r.hot.Base, OperatorAddress: capital})
	maxFee := bursar.Units(1 << 30)
	r.sender = &outgoing.Sender{DB: r.db, Chain: r.chain, Signer: r.signer, Registry: r.registry, IDs: r.ids, Log: log,
		Hot: r.hot, MaxFee: maxFee}
	r.sweeper = &sweep.Sweeper{DB: r.db, Chain: r.chain, Registry: r.registry, IDs: r.ids, Log: log, Hot: r.hot,
		MaxFee: maxFee}
	r.wallets = wallet.NewService(r.db, r.keys, map[bursar.ChainID]wallet.Chain{id: r.chain}, r.registry, r.ids, nil)
	r.withdrawals = withdrawal.NewService(withdrawal.Config{DB: r.db,
		Chains: map[bursar.ChainID]withdrawal.Chain{id: r.chain},
		Hot:    map[bursar.ChainID]string{id: r.hot.Base}, Registry: r.registry, IDs: r.ids, Log: log,
		Leave: outgoing.Leave})
}

func (r *harness) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *harness) do(f func(tx *store.Tx) error) {
	r.t.Helper()
	r.must(r.db.Do(ctx, f))
}

func (r *harness) view(f func(tx *store.Tx) error) {
	r.t.Helper()
	r.must(r.db.View(ctx, f))
}

// step runs every worker once, the follower until it has caught up.
func (r *harness) step() {
	r.t.Helper()
	for {
		more, err := r.follower.Step(ctx, r.lease)
		r.check(err)
		if !more || err != nil {
			break
		}
	}
	r.check(r.sender.Step(ctx, r.lease))
	r.check(r.sweeper.Step(ctx, r.lease))
}

func (r *harness) check(err error) {
	r.t.Helper()
	if err != nil && !r.trouble {
		r.t.Fatal(err)
	}
}

func (r *harness) wallet(account int) bursar.Wallet { return r.walletOf(account, "COIN") }

func (r *harness) walletOf(account int, currency bursar.CurrencyCode) bursar.Wallet {
	r.t.Helper()
	w, err := r.wallets.Create(ctx, wallet.New{Account: r.accounts[account], Currency: currency,
		Webhook: "https://receiver.example/hook"})
	r.must(err)
	return w
}

func (r *harness) pay(to bursar.Address, units uint64) string {
	return r.chain.Pay(chain.Payment{Address: to, Amount: bursar.Units(units)})
}

func (r *harness) withdraw(account int, units uint64, to string) (bursar.Withdrawal, error) {
	return r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[account], Currency: "COIN",
		Amount: r.currency.Exact(bursar.Units(units)), Address: to})
}

// settled mines and steps until nothing is in progress.
func (r *harness) settle() {
	r.t.Helper()
	for range 200 {
		r.chain.Mine(1)
		r.step()
		if r.idle() {
			return
		}
	}
	r.view(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.chain.Capabilities().ID, 100)
		for _, p := range open {
			r.t.Logf("open: %s %s height %d error %q", p.Kind, p.Status, p.Height, p.Error)
		}
		pending, pendingErr := tx.Deposits().PendingOn(ctx, r.chain.Capabilities().ID, 0, 10)
		for _, d := range pending {
			r.t.Logf("deposit: %s %s at %d", d.ID, d.Purpose, d.Height)
		}
		list, listErr := tx.Withdrawals().Unfinished(ctx, 10)
		for _, w := range list {
			r.t.Logf("withdrawal: %s %s %q", w.ID, w.Status, w.Error)
		}
		halts, haltsErr := tx.Halts().List(ctx)
		for _, halt := range halts {
			r.t.Logf("halt: %s", halt)
		}
		return errors.Join(err, pendingErr, listErr, haltsErr)
	})
	r.t.Fatal("transactions are still open")
}

func (r *harness) idle() (idle bool) {
	id := r.chain.Capabilities().ID
	r.view(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, id, 1)
		if err != nil {
			return err
		}
		pending, err := tx.Deposits().PendingOn(ctx, id, 0, 1)
		if err != nil {
			return err
		}
		list, err := tx.Withdrawals().List(ctx, bursar.ID{}, store.Page{Limit: 1000})
		idle = len(open) == 0 && len(pending) == 0
		for _, w := range list {
			idle = idle && !w.CompletedAt.IsZero()
		}
		return err
	})
	return idle
}

func (r *harness) available(account int) bursar.Amount {
	r.t.Helper()
	var b ledger.Balance
	r.view(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Available(r.accounts[account]), "COIN")
		return err
	})
	amount, negative := b.Net(ledger.Liability)
	if negative {
		r.t.Fatalf("account %d is below zero by %s", account, amount)
	}
	return amount
}

// reconcile makes the service compare its books with the chain.
func (r *harness) reconcile() error {
	lines, err := r.compare()
	for _, l := range lines {
		if err == nil && !l.Balanced() {
			err = fmt.Errorf("the books and the chain differ: %+v", l)
		}
	}
	return err
}

func (r *harness) compare() ([]reconcile.Line, error) {
	return (&reconcile.Reconciler{DB: r.db, Chain: r.chain, Registry: r.registry, Hot: r.hot.Base}).Run(ctx)
}

// audit compares the books with the chain: debits equal credits, custody is to the unit what the chain holds at
// addresses of ours, and all of it can be spent.
func (r *harness) audit() error {
	if err := r.chain.Check(); err != nil {
		return err
	}
	var debits, credits, custody, held, amount bursar.Amount
	err := r.db.View(ctx, func(tx *store.Tx) error {
		err := tx.Ledger().EachBalance(ctx, func(k ledger.Key, b ledger.Balance) (err error) {
			debits, err = debits.Add(b.Debits)
			credits, _ = credits.Add(b.Credits)
			if k.Account == ledger.Custody {
				custody, _ = b.Net(ledger.Asset)
			}
			return err
		})
		if err != nil {
			return err
		}
		newest, err := tx.Wallets().Newest(ctx)
		if err != nil {
			return err
		}
		if amount, err = tx.UTXOs().Sum(ctx, r.chain.Capabilities().ID, 1<<40); err != nil {
			return err
		}
		held = r.chain.Balance(r.hot.Base, "")
		return tx.Wallets().EachWatched(ctx, r.chain.Capabilities().Family, 0, newest, func(base string) {
			if base != r.hot.Base {
				held, _ = held.Add(r.chain.Balance(base, ""))
			}
		})
	})
	if err == nil {
		err = r.reconcile()
	}
	if err == nil && debits != credits {
		err = fmt.Errorf("debits are %s, credits %s", debits, credits)
	}
	if err == nil && custody != held {
		err = fmt.Errorf("custody is %s, the chain holds %s", custody, held)
	}
	if err == nil && r.chain.Capabilities().Model == chain.UTXOModel && amount != held {
		err = fmt.Errorf("the spendable UTXOs are worth %s, the chain holds %s", amount, held)
	}
	return err
}

// charge makes a charge for an account with an amount in units.
func (r *harness) charge(account int, units uint64) bursar.Wallet {
	r.t.Helper()
	w, err := r.wallets.Create(ctx, wallet.New{Account: r.accounts[account], Currency: "COIN",
		Webhook:       "https://receiver.example/hook",
		ChargeMinimum: bursar.Units(units), ChargeLife: bursar.DefaultChargeLife})
	r.must(err)
	return w
}

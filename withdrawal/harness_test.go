package withdrawal_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	ctx    = context.Background()
	ann    = bursar.ID{0: 1}
	bob    = bursar.ID{0: 2}
	native = bursar.Currency{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8, Minimum: bursar.Units(1),
		WithdrawalMinimum: bursar.Units(500),
		WithdrawalMaximum: bursar.Units(100_000_000_000), WithdrawalFee: bursar.Fee{Network: true, Fixed: bursar.Units(70)},
		DepositFee: bursar.Fee{Millionths: 10_000}, ApprovalAbove: bursar.Units(50_000_000)}
	token = bursar.Currency{Code: "TOKEN", Chain: bursar.Bitcoin, Contract: "token", Decimals: 6, Places: 6,
		Minimum: bursar.Units(1)}
	away = bursar.Currency{Code: "AWAY", Chain: bursar.Ethereum, Decimals: 8, Places: 8, Minimum: bursar.Units(1)}
)

// harness is the service over a simulated chain, with its own clock. Ann has 10 COIN, Bob nothing.
type harness struct {
	*testing.T
	bursartest.Database
	node   *sim.Chain
	config withdrawal.Config
	orders *withdrawal.Service
	taken  []bursar.ChainID

	announced int                                     // how often the deliverer was woken
	points    func(at store.Point, what string) error // of each transaction; an error of it fails that one

	clock *bursartest.Clock
}

func newHarness(t *testing.T) *harness { return newHarnessOn(t, storetest.Reused(t)) }

// newHarnessOn is newHarness on a database.
func newHarnessOn(t *testing.T, url string) *harness {
	t.Parallel()
	return newHarnessOver(t, storetest.Open(t, url))
}

// newHarnessOver is newHarness over an open database.
func newHarnessOver(t *testing.T, db *store.DB) *harness {
	t.Helper()
	d := &harness{T: t, node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2}),
		clock: bursartest.NewClockAt(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	d.Database = bursartest.Over(t, db.As(d.clock.Now,
		store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
			if d.points != nil {
				return d.points(at, what)
			}
			return nil
		}}))
	registry, err := bursar.NewRegistry([]bursar.Currency{native, token, away})
	d.Must(err)
	d.config = withdrawal.Config{DB: d.DB, Chains: map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: d.node},
		Hot: map[bursar.ChainID]string{bursar.Bitcoin: d.node.Named("hot")}, Registry: registry, IDs: d.IDs,
		Log:           slog.New(slog.DiscardHandler),
		Queued:        func(id bursar.ChainID) { d.taken = append(d.taken, id) },
		EventRecorded: func(bursar.Event) { d.announced++ },
		Leave:         outgoing.EndCancelled}
	d.orders = withdrawal.NewService(d.config)
	for _, id := range []bursar.ID{ann, bob} {
		d.AddAccount(bursar.Account{ID: id, NotifyWithdrawals: true, Webhook: "https://a.example/hook"})
	}
	d.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	d.Credit(ann, "COIN", 1_000_000_000)
	return d
}

// change builds the service again with another configuration.
func (d *harness) change(f func(c *withdrawal.Config)) {
	f(&d.config)
	d.orders = withdrawal.NewService(d.config)
}

// currency replaces a currency of the registry.
func (d *harness) currency(f func(c *bursar.Currency)) {
	d.Helper()
	changed := native
	f(&changed)
	registry, err := bursar.NewRegistry([]bursar.Currency{changed, token, away})
	d.Must(err)
	d.change(func(c *withdrawal.Config) { c.Registry = registry })
}

func (d *harness) order(units uint64, to string) withdrawal.Request {
	return withdrawal.Request{Account: ann, Currency: "COIN", Amount: native.Exact(bursar.Units(units)), Address: to}
}

func (d *harness) ask(units uint64, to string) (bursar.Withdrawal, error) {
	return d.orders.Request(ctx, d.order(units, to))
}

// accept is a withdrawal of Ann's that must be accepted.
func (d *harness) accept(units uint64, to string) bursar.Withdrawal {
	d.Helper()
	w, err := d.ask(units, to)
	d.Must(err)
	return w
}

// wallet makes a wallet or, with a minimum, a charge, whose address is a name on the chain.
func (d *harness) wallet(account bursar.ID, currency bursar.CurrencyCode, name string, charge uint64) bursar.Wallet {
	d.Helper()
	w := d.AddWallet(bursar.Wallet{
		AccountID: account,
		Currency:  currency,
		Family:    "bitcoin",
		Webhook:   "https://b.example/hook",
		Metadata:  "m",
		ForCharge: charge > 0,
		Address:   bursar.Address{Base: d.node.Named(name)},
	})
	if charge > 0 {
		d.Do(func(tx *store.Tx) error {
			return tx.Charges().Insert(ctx, bursar.Charge{Number: w.Number, ID: w.ID, AccountID: account,
				Minimum: bursar.Units(charge), Expires: tx.Now().Add(time.Hour)})
		})
	}
	return w
}

// sum returns the balance of COIN of a ledger account.
func (d *harness) sum(account ledger.Account) bursar.Amount {
	d.Helper()
	return d.Balance(account, "COIN")
}

func (d *harness) available(account bursar.ID) bursar.Amount { return d.sum(ledger.Available(account)) }

// holds checks what an account has available and what is held for withdrawals.
func (d *harness) holds(account bursar.ID, available, held uint64) {
	d.Helper()
	if a, h := d.available(account), d.sum(ledger.Held(account)); a != bursar.Units(available) || h != bursar.Units(held) {
		d.Errorf("%s is available and %s held, want %d and %d", a, h, available, held)
	}
}

func (d *harness) count() int {
	d.Helper()
	list, err := d.orders.List(ctx, bursar.ID{}, store.Page{Limit: 100})
	d.Must(err)
	return len(list)
}

// refused checks that a request was refused with a code and a field, and that the message contains a text.
func (d *harness) refused(name string, err error, code bursar.ErrorCode, words string) {
	d.Helper()
	var refusal *bursar.Error
	if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(err.Error(), words) {
		d.Errorf("%s: %v, want %s with %q", name, err, code, words)
	}
}

// current returns a withdrawal as it is now.
func (d *harness) current(w bursar.Withdrawal) bursar.Withdrawal {
	d.Helper()
	w, err := d.orders.Get(ctx, w.AccountID, w.ID)
	d.Must(err)
	return w
}

// networkFee returns the chain's current fee for a payment.
func (d *harness) networkFee(units uint64, to string) bursar.Amount {
	d.Helper()
	fee, err := d.node.Quote(ctx, chain.Payment{Address: bursar.Address{Base: to}, Amount: bursar.Units(units)})
	d.Must(err)
	return fee
}

// asked is a chain that calls a function before it returns a price.
type asked struct {
	*sim.Chain
	before func()
}

func (a asked) Quote(ctx context.Context, p chain.Payment) (bursar.Amount, error) {
	a.before()
	return a.Chain.Quote(ctx, p)
}

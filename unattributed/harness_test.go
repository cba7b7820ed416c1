package unattributed_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/unattributed"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	ctx    = context.Background()
	ann    = bursar.ID{0: 1}
	bob    = bursar.ID{0: 2}
	native = bursar.Currency{Code: "COIN", Decimals: 8, Places: 8, Minimum: bursar.Units(1),
		DepositFee: bursar.Fee{Millionths: 10_000}}
	token = bursar.Currency{Code: "TOKEN", Decimals: 6, Places: 6, Minimum: bursar.Units(1)}
)

// harness is the service over a followed chain, with a wallet of Ann's and one of Bob's.
type harness struct {
	*testing.T
	bursartest.Database
	node     *sim.Chain
	follower follower.Followed
	lease    store.Lease
	service  *unattributed.Service
	hot      string
	anns     bursar.Wallet
	bobs     bursar.Wallet
	decided  []bursar.ChainID
	quote    func(chain.Payment) (bursar.Amount, error)
}

// The chains that a test may run on.
var (
	utxoModel = sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 2}
	tagged    = sim.Config{ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel, SharedAddress: true,
		Confirmations: 2}
	numbered = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2}
)

// newHarness returns a harness whose chain charges 1000 for each payment.
func newHarness(t *testing.T, config sim.Config) *harness {
	t.Parallel()
	r := &harness{T: t, Database: bursartest.Over(t, storetest.Open(t, storetest.Reused(t))), node: sim.New(config)}
	r.quote = func(chain.Payment) (bursar.Amount, error) { return bursar.Units(1000), nil }
	r.hot = r.node.Named("hot")
	native, token := native, token
	native.Chain, token.Chain, token.Contract = config.ID, config.ID, r.node.Named("token")
	registry, err := bursar.NewRegistry([]bursar.Currency{native, token})
	r.Must(err)
	log := slog.New(slog.DiscardHandler)
	capital := r.hot
	if config.SharedAddress {
		capital = "" // what comes there without a tag may be anybody's
	}
	r.follower = follower.Follow(follower.Following{DB: r.DB, Chain: r.node, Registry: registry, IDs: r.IDs, Log: log,
		Hot: r.hot, OperatorAddress: capital})
	at := unattributed.ChainContext{Chain: r.quoted(), Creditor: r.follower.Deposits, Hot: r.hot}
	r.service = &unattributed.Service{DB: r.DB, Chains: map[bursar.ChainID]unattributed.ChainContext{config.ID: at},
		Registry: registry,
		IDs:      r.IDs, Log: log, Resolved: func(id bursar.ChainID) { r.decided = append(r.decided, id) }}
	for _, id := range []bursar.ID{ann, bob} {
		r.AddAccount(bursar.Account{ID: id})
	}
	r.lease = r.AcquireLease(config.ID, "one")
	r.node.Mine(3)
	r.anns, r.bobs = r.wallet(ann, "COIN", "ann's"), r.wallet(bob, "TOKEN", "bob's")
	r.step()
	return r
}

// quoted is the chain with the fees that the test sets.
func (r *harness) quoted() bursartest.Quoted {
	return bursartest.Quoted{Chain: r.node, Fee: func(p chain.Payment) (bursar.Amount, error) { return r.quote(p) }}
}

func (r *harness) wallet(account bursar.ID, currency bursar.CurrencyCode, name string) bursar.Wallet {
	r.Helper()
	return r.AddWallet(bursar.Wallet{
		AccountID: account,
		Currency:  currency,
		Family:    r.node.Capabilities().Family,
		Webhook:   "https://" + name[:3] + ".example/hook",
		Metadata:  name,
		Address:   bursar.Address{Base: r.node.Named(name)},
		CreatedAt: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	})
}

// step runs the follower until it is caught up.
func (r *harness) step() {
	r.Helper()
	for more := true; more; {
		var err error
		more, err = r.follower.Step(ctx, r.lease)
		r.Must(err)
	}
}

// arrive makes a transfer that belongs to no wallet, and returns the recorded deposit, final after two blocks.
func (r *harness) arrive(to string, contract string, units uint64, blocks int) bursar.Deposit {
	r.Helper()
	payment := chain.Payment{Address: bursar.Address{Base: to}, Contract: contract, Amount: bursar.Units(units)}
	id := r.node.Send(sim.Outside{Payments: []chain.Payment{payment}, Inferred: to != r.hot})
	r.node.Mine(blocks)
	r.step()
	var found bursar.Deposit
	r.Do(func(tx *store.Tx) error {
		list, err := tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 100})
		for _, d := range list {
			if d.TxID == id {
				found = d
			}
		}
		return err
	})
	if found.ID.IsZero() {
		r.Fatal("nothing unattributed came")
	}
	return found
}

// stranded is a final deposit of COIN at Ann's address that belongs to no wallet.
func (r *harness) stranded(units uint64) bursar.Deposit {
	r.Helper()
	return r.arrive(r.anns.Address.Base, "", units, 2)
}

func (r *harness) tokens() string { return r.node.Named("token") }

// standing is the resolution of a deposit that has not failed; the zero one where there is none.
func (r *harness) standing(d bursar.Deposit) (n bursar.Resolution) {
	r.Helper()
	r.Do(func(tx *store.Tx) (err error) {
		if n, err = tx.Resolutions().Standing(ctx, d.ID); errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return n
}

// books checks what an account holds of COIN.
func (r *harness) books(account ledger.Account, units uint64) {
	r.Helper()
	if got := r.Balance(account, "COIN"); got != bursar.Units(units) {
		r.Errorf("the balance of %s is %s, want %d", account, got, units)
	}
}

func (r *harness) alarms() (n int) {
	r.Helper()
	r.Do(func(tx *store.Tx) error {
		list, err := tx.Alarms().OfKind(ctx, "unattributed")
		n = len(list)
		return err
	})
	return n
}

// refused checks an error, and that a deposit was not resolved.
func (r *harness) refused(name string, err, want error, d bursar.Deposit) {
	r.Helper()
	if !errors.Is(err, want) {
		r.Errorf("%s: %v, want %v", name, err, want)
	}
	if n := r.standing(d); !n.ID.IsZero() {
		r.Errorf("%s: it is resolved: %+v", name, n)
	}
}

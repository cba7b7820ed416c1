package bursartest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/sweep"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// ctx is what the steps of OneChain run under. They end by themselves.
var ctx = context.Background()

// OneChain is one simulated chain with a database and all its workers, driven step by step instead of by time: the
// harness of tests of several packages. Its native asset is COIN, of which a deposit costs 1 %. Each test with one ends
// with a search for rows that contradict each other.
type OneChain struct {
	Database
	Chain       *sim.Chain
	Registry    *bursar.Registry
	Currency    bursar.Currency
	Keys        *CachedKeys
	Signer      *signer.Signer
	Hot         chain.Source
	Lease       store.Lease
	Follower    follower.Followed
	Sender      *outgoing.Sender
	Sweeper     *sweep.Sweeper
	Wallets     *wallet.Service
	Withdrawals *withdrawal.Service
	Accounts    []bursar.ID
	Cold        []bursar.ColdWallet // of the process after the next Restart
	Old         []chain.Source      // the hot wallets of earlier epochs
	Trouble     bool                // faults are injected: a step may fail
	Forged      bool                // somebody else has written to the database: its rows may contradict each other

	memory memory.Keeper // of the signer
	opened *store.DB     // the handle that storetest opened, where DB is another of the same database
}

// NewOneChain returns a harness over a database and a chain, with three accounts that have nothing yet.
func NewOneChain(t testing.TB, db *store.DB, config sim.Config) *OneChain {
	return newOneChain(t, db, storetest.URL(db), config)
}

// newOneChain is NewOneChain over a handle of the database with a URL.
func newOneChain(t testing.TB, db *store.DB, url string, config sim.Config) *OneChain {
	r := &OneChain{Database: Over(t, db), Chain: sim.New(config)}
	r.Currency = bursar.Currency{Code: "COIN", Chain: config.ID, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
		WithdrawalMinimum: bursar.Units(500), WithdrawalFee: bursar.Fee{Network: true},
		DepositFee: bursar.Fee{Millionths: 10_000}}
	var err error
	r.Registry, err = bursar.NewRegistry([]bursar.Currency{r.Currency})
	r.Must(err)
	r.Keys, err = ZeroKeys()
	r.Must(err)
	r.newSigner()
	pub, err := r.Keys.Public(chain.Hot(config.Family))
	r.Must(err)
	address, err := r.Chain.Address(pub, 0)
	r.Must(err)
	r.Hot = chain.Source{Key: chain.Hot(config.Family), Base: address.Base}
	for i := range byte(3) {
		id := bursar.ID{0: 1, 15: i}
		r.Accounts = append(r.Accounts, id)
		r.AddAccount(bursar.Account{ID: id})
	}
	r.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, config.ID) })
	r.Restart()
	t.Cleanup(func() { r.consistent(url) })
	return r
}

// ZeroKeys are the keys of every OneChain. Their public keys are derived once: a service of wallets derives hundreds
// ahead, and each test starts several.
var ZeroKeys = sync.OnceValues(func() (*CachedKeys, error) {
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	return NewCachedKeys(keys), err
})

// Restart simulates a process that ended and another one that takes over: nothing in memory survives.
func (r *OneChain) Restart() {
	id := r.Chain.Capabilities().ID
	r.Do(func(tx *store.Tx) (err error) {
		if err := tx.Leases().Release(ctx, r.Lease); err != nil {
			return err
		}
		var ok bool
		r.Lease, ok, err = tx.Leases().Acquire(ctx, id, r.IDs.Next().String(), 1<<50)
		if err == nil && !ok {
			err = errors.New("the lease was not given")
		}
		return err
	})
	log := slog.New(slog.DiscardHandler)
	capital := r.Hot.Base
	if r.Chain.Capabilities().SharedAddress {
		capital = "" // a payment there without a memo belongs to no wallet
	}
	r.Follower = follower.Follow(follower.Following{DB: r.DB, Chain: r.Chain, Registry: r.Registry, IDs: r.IDs, Log: log,
		Hot: r.Hot.Base, OperatorAddress: capital, Cold: r.Cold, Old: r.Old, Epoch: r.Hot.Key.Epoch()})
	maxFee := bursar.Units(1 << 30)
	r.Sender = outgoing.NewSender(outgoing.Config{DB: r.DB, Chain: r.Chain, Signer: r.Signer, Registry: r.Registry,
		IDs: r.IDs, Log: log,
		Hot: r.Hot, Old: r.Old, MaxFee: maxFee, Cold: r.Cold})
	r.Sweeper = &sweep.Sweeper{DB: r.DB, Chain: r.Chain, Registry: r.Registry, IDs: r.IDs, Log: log, Hot: r.Hot,
		Old: r.Old, MaxFee: maxFee}
	r.Wallets = wallet.NewService(r.DB, r.Keys, map[bursar.ChainID]wallet.Chain{id: r.Chain}, r.Registry, r.IDs,
		netpolicy.Receivers{})
	r.Withdrawals = withdrawal.NewService(withdrawal.Config{DB: r.DB,
		Chains: map[bursar.ChainID]withdrawal.Chain{id: r.Chain},
		Hot:    map[bursar.ChainID]string{id: r.Hot.Base}, Old: map[bursar.ChainID][]string{id: r.oldBases()},
		Registry: r.Registry, IDs: r.IDs, Log: log,
		Leave: outgoing.EndCancelled, Unpaid: r.unpaid})
}

func (r *OneChain) unpaid(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	assessor := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
	return outgoing.Unpaid(ctx, tx, assessor, w)
}

// Reconfigure starts another process with COIN as r.Currency is now, and with other currencies.
func (r *OneChain) Reconfigure(others ...bursar.Currency) {
	r.T.Helper()
	var err error
	r.Registry, err = bursar.NewRegistry(append([]bursar.Currency{r.Currency}, others...))
	r.Must(err)
	r.Restart()
}

// Check is Must, except while faults are injected.
func (r *OneChain) Check(err error) {
	r.T.Helper()
	if err != nil && !r.Trouble {
		r.T.Fatal(err)
	}
}

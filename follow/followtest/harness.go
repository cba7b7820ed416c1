// Package followtest follows an in-memory chain step by step, for the tests of packages that handle its blocks. It owns
// the chain, the follower and the order of their steps, and never runs anything in the background.
package followtest

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Harness is an in-memory chain that is followed step by step, with one account and one wallet on it.
type Harness struct {
	follower.Followed
	T       *testing.T
	Sim     *sim.Chain
	Lease   store.Lease
	Account bursar.ID
	Wallet  bursar.Wallet
	Tokens  bursar.Wallet // of TOKEN
}

// Run runs a test on both databases. depth is the number of remembered blocks; 0: the chain's own number.
func Run(t *testing.T, depth int, test func(t *testing.T, f *Harness)) {
	t.Helper()
	RunAs(t, Setting{Chain: sim.Config{ReorgDepth: depth}}, test)
}

// Setting is what a test changes about the chain and about the currencies COIN, the native asset, and TOKEN.
type Setting struct {
	Chain  sim.Config
	Native bursar.Currency
	Token  bursar.Currency
	UTXO   bool // the chain uses the UTXO model instead of the account model
	Idle   bool // nothing is followed before the test begins
	Before func(w *bursar.Wallet)

	Hooks store.Hooks // of the database
}

// RunAs is Run with other settings.
func RunAs(t *testing.T, s Setting, test func(t *testing.T, f *Harness)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		f := newHarness(t, db, s)
		if !s.Idle {
			f.CatchUp()
		}
		test(t, f)
	})
}

func newHarness(t *testing.T, db *store.DB, s Setting) *Harness {
	t.Helper()
	if s.Hooks.Before != nil {
		db = db.As(db.Now, s.Hooks)
	}
	s.Chain.ID, s.Chain.Family, s.Chain.Spending, s.Chain.Confirmations = bursar.Ethereum, "evm", chain.AccountModel, 3
	if s.UTXO {
		s.Chain.Spending = chain.UTXOModel
	}
	base := bursartest.Over(t, db)
	f := &Harness{T: t, Account: bursar.ID{1}, Sim: sim.New(s.Chain)}
	s.Native.Code, s.Native.Chain, s.Native.Decimals, s.Native.Places, s.Native.Minimum = "COIN", bursar.Ethereum, 8, 8,
		bursar.Units(1000)
	s.Token.Code, s.Token.Chain, s.Token.Contract, s.Token.Decimals, s.Token.Places = "TOKEN", bursar.Ethereum,
		f.Sim.Named("token"), 6, 2
	s.Token.Minimum = bursar.Units(1000)
	registry, err := bursar.NewRegistry([]bursar.Currency{s.Native, s.Token})
	f.Must(err)
	f.Wallet = bursar.Wallet{ID: bursar.ID{2}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("wallet")}}
	f.Tokens = bursar.Wallet{ID: bursar.ID{3}, Currency: "TOKEN",
		Address: bursar.Address{Base: f.Sim.Named("token wallet")}}
	f.Followed = follower.Follow(follower.Following{
		DB:              db,
		Chain:           f.Sim,
		Registry:        registry,
		IDs:             base.IDs,
		Log:             slog.New(slog.DiscardHandler),
		Hot:             "hot",
		OperatorAddress: "hot",
	})
	base.AddAccount(bursar.Account{ID: f.Account})
	f.Lease = base.AcquireLease(bursar.Ethereum, "one")
	f.AddWallet(&f.Wallet, s.Before)
	f.AddWallet(&f.Tokens, s.Before)
	return f
}

// AddWallet commits a wallet for the account.
func (f *Harness) AddWallet(w *bursar.Wallet, before func(*bursar.Wallet)) {
	f.T.Helper()
	w.AccountID, w.Family, w.Webhook, w.CreatedAt = f.Account, "evm", "https://receiver.example/", f.DB.Now()
	if before != nil {
		before(w)
	}
	*w = f.database().AddWallet(*w)
}

// database is the follower's, under the clock that the test may have given it.
func (f *Harness) database() bursartest.Database { return bursartest.Over(f.T, f.DB) }

// SetHot changes the hot wallet's address of the service.
func (f *Harness) SetHot(base string) {
	f.Hot, f.Deposits.Hot, f.Externals.Hot = base, base, base
	f.Watch = follow.NewWatch(f.DB, f.Sim.Capabilities(), base)
}

// Must ends the test if there is an error.
func (f *Harness) Must(err error) {
	f.T.Helper()
	if err != nil {
		f.T.Fatal(err)
	}
}

// Balance returns what a ledger account has of COIN, which must not be below zero.
func (f *Harness) Balance(account ledger.Account) bursar.Amount {
	f.T.Helper()
	return f.database().Balance(account, "COIN")
}

// Deposit returns a deposit as it is now.
func (f *Harness) Deposit(id bursar.ID) bursar.Deposit {
	f.T.Helper()
	return f.database().Deposit(id)
}

// CatchUp steps until there is nothing more to do.
func (f *Harness) CatchUp() {
	f.T.Helper()
	for more := true; more; {
		var err error
		more, err = f.Step(f.T.Context(), f.Lease)
		f.Must(err)
	}
}

// Pay pays the wallet units of COIN and returns the transaction's ID.
func (f *Harness) Pay(units uint64) string {
	return f.Sim.Pay(chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(units)})
}

// State is a summary of the database: the cursor, the credited balance, the deposits by status, and the number of
// events.
func (f *Harness) State() string {
	f.T.Helper()
	var text string
	f.Must(f.DB.View(f.T.Context(), func(tx *store.Tx) error {
		cursor, err := tx.Chains().State(f.T.Context(), bursar.Ethereum)
		if err != nil {
			return err
		}
		balance, err := tx.Ledger().Balance(f.T.Context(), ledger.Available(f.Account), "COIN")
		if err != nil {
			return err
		}
		deposits, err := tx.Deposits().List(f.T.Context(), f.Account, f.Wallet.ID, store.Page{Limit: 1000})
		if err != nil {
			return err
		}
		events, err := tx.Deliveries().List(f.T.Context(), f.Account, store.Page{Limit: 1000})
		counts := map[bursar.DepositStatus]int{}
		for _, d := range deposits {
			counts[d.Status]++
		}
		amount, negative := balance.Net(ledger.Liability)
		if negative {
			f.T.Errorf("the account is %s below zero", amount)
		}
		text = fmt.Sprintf("block %d, %s credited, %v, %d events", cursor.Height, amount, counts, len(events))
		return err
	}))
	return text
}

// Want compares the State with a text.
func (f *Harness) Want(text string) {
	f.T.Helper()
	if got := f.State(); got != text {
		f.T.Fatalf("got %s, want %s", got, text)
	}
}

// Alarms returns the kinds and messages of the open alarms.
func (f *Harness) Alarms() (list []string) {
	f.T.Helper()
	f.Must(f.DB.View(f.T.Context(), func(tx *store.Tx) error {
		open, err := tx.Alarms().List(f.T.Context(), 100)
		for _, a := range open {
			list = append(list, a.Kind+": "+a.Message)
		}
		return err
	}))
	return list
}

// WantAlarm checks that one alarm is open, of a kind and with a part of its message.
func (f *Harness) WantAlarm(kind, message string) {
	f.T.Helper()
	if open := f.Alarms(); len(open) != 1 || !strings.HasPrefix(open[0], kind+": ") ||
		!strings.Contains(open[0], message) {
		f.T.Fatalf("the alarms are %q, want one of kind %s that contains %q", open, kind, message)
	}
}

// WantNoAlarm checks that no alarm is open.
func (f *Harness) WantNoAlarm() {
	f.T.Helper()
	if open := f.Alarms(); len(open) != 0 {
		f.T.Fatalf("the alarms are %q, want none", open)
	}
}

// DepositOf returns the deposit that a transaction made.
func (f *Harness) DepositOf(txID string) (d bursar.Deposit) {
	f.T.Helper()
	f.Must(f.DB.View(f.T.Context(), func(tx *store.Tx) error {
		list, err := tx.Deposits().ByTx(f.T.Context(), f.Account, []bursar.ChainID{bursar.Ethereum}, []string{txID})
		if len(list) != 1 {
			return fmt.Errorf("%d deposits of %s: %w", len(list), txID, err)
		}
		d = list[0]
		return err
	}))
	return d
}

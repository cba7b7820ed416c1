package bursartest

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Database is a database under test, with what the harness of every package does to it: transactions that must commit,
// accounts, wallets, leases, and what it reads back. A harness embeds it.
type Database struct {
	T   testing.TB
	DB  *store.DB
	IDs *bursar.IDs
}

// Over returns a Database over an open one.
func Over(t testing.TB, db *store.DB) Database {
	return Database{T: t, DB: db, IDs: bursar.NewIDs(db.Now, nil)}
}

// EachURL runs a test on both databases, as storetest.Each does, for a test that opens its database itself: with a
// clock, or several times, as replicas do.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, storetest.URL(db)) })
}

// Must ends the test if there is an error.
func (d Database) Must(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// Do runs a transaction that must commit.
func (d Database) Do(f func(tx *store.Tx) error) {
	d.T.Helper()
	d.Must(d.DB.Do(ctx, f))
}

// View runs a transaction that only reads.
func (d Database) View(f func(tx *store.Tx) error) {
	d.T.Helper()
	d.Must(d.DB.View(ctx, f))
}

// AddAccount inserts an account. What a test does not set has a value that an account of the service would have.
func (d Database) AddAccount(a bursar.Account) {
	d.T.Helper()
	a.Name = cmp.Or(a.Name, "a")
	a.WebhookGeneration = cmp.Or(a.WebhookGeneration, 1)
	d.Do(func(tx *store.Tx) error {
		if a.CreatedAt.IsZero() {
			a.CreatedAt = tx.Now()
		}
		return tx.Accounts().Insert(ctx, a)
	})
}

// AddWallet inserts a wallet with the next number. Its key index is that number, and its ID and time are new, if they
// are not set.
func (d Database) AddWallet(w bursar.Wallet) bursar.Wallet {
	d.T.Helper()
	d.Do(func(tx *store.Tx) (err error) {
		if w.Number, err = tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		w.Index = cmp.Or(w.Index, uint32(w.Number))
		if w.ID.IsZero() {
			w.ID = d.IDs.Next()
		}
		if w.CreatedAt.IsZero() {
			w.CreatedAt = tx.Now()
		}
		return tx.Wallets().Insert(ctx, []bursar.Wallet{w})
	})
	return w
}

// AcquireLease makes a chain known and returns its lease, held by one process for ever.
func (d Database) AcquireLease(id bursar.ChainID, holder string) (l store.Lease) {
	d.T.Helper()
	d.Do(func(tx *store.Tx) error {
		err := tx.Chains().Ensure(ctx, id)
		if err != nil {
			return err
		}
		var taken bool
		if l, taken, err = tx.Leases().Acquire(ctx, id, holder, 1<<50); err == nil && !taken {
			err = fmt.Errorf("the lease of %s is not free", id)
		}
		return err
	})
	return l
}

// Credit books a deposit of an account, which needs no chain.
func (d Database) Credit(account bursar.ID, currency bursar.CurrencyCode, units uint64) {
	d.T.Helper()
	made := bursar.Deposit{ID: d.IDs.Next(), AccountID: account, Currency: currency, Amount: bursar.Units(units)}
	d.Do(func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(made, tx.Now())) })
}

// Balance returns what a ledger account has of a currency, which must not be below zero.
func (d Database) Balance(account ledger.Account, currency bursar.CurrencyCode) bursar.Amount {
	d.T.Helper()
	var b ledger.Balance
	d.View(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, account, currency)
		return err
	})
	amount, negative := b.Net(account.Type())
	if negative {
		d.T.Errorf("the balance of %s is -%s %s, want none below zero", account, amount, currency)
	}
	return amount
}

// Deposit returns a deposit as it is now.
func (d Database) Deposit(id bursar.ID) (found bursar.Deposit) {
	d.T.Helper()
	d.View(func(tx *store.Tx) (err error) {
		found, err = tx.Deposits().ByID(ctx, id)
		return err
	})
	return found
}

// Outgoing returns an outgoing transaction as it is now.
func (d Database) Outgoing(id bursar.ID) (p bursar.OutgoingTx) {
	d.T.Helper()
	d.View(func(tx *store.Tx) (err error) {
		p, err = tx.Outgoing().Get(ctx, id)
		return err
	})
	return p
}

// ComesBack gives a confirmed deposit another amount, as the same transaction in another block may.
func (d Database) ComesBack(deposit bursar.Deposit, amount uint64) {
	d.T.Helper()
	d.Do(func(tx *store.Tx) error {
		now, err := tx.Deposits().ByID(ctx, deposit.ID)
		if err != nil {
			return err
		}
		if err := tx.Deposits().SetStatus(ctx, now, bursar.DepositReversed); err != nil {
			return err
		}
		again := now
		again.Amount = bursar.Units(amount)
		if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: again}); err != nil {
			return err
		}
		if now, err = tx.Deposits().ByID(ctx, deposit.ID); err != nil {
			return err
		}
		return tx.Deposits().SetStatus(ctx, now, bursar.DepositConfirmed)
	})
}

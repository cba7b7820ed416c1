// Package oversight builds read-only views (sheets) of the service and its objects for the console and the command
// line.
//
// It owns what a sheet says and none of its data: it only reads, asks no node, and changes nothing. Its invariants: a
// sheet is read in one transaction, so that what it says fits together; every list is bounded; a person restricted to
// certain accounts cannot learn that another account exists: its objects look like unknown ones.
package oversight

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Chain is what a sheet needs to know of a configured chain.
type Chain interface {
	Capabilities() chain.Capabilities
	ParseAddress(s string) (bursar.Address, error)
}

// Node is one node of a chain, as this process knows it. Name contains no credentials.
type Node struct {
	Name   string
	InUse  bool
	Height uint64
	Fault  string // the reason for its last cool-down
}

// Setting is one value of the configuration: Source is its file with the line, or its variable.
type Setting struct {
	Path   string
	Value  string // empty where it may be a secret
	Source string
}

// Config is where sheets are read from.
type Config struct {
	DB       *store.DB
	Registry *bursar.Registry
	Chains   map[bursar.ChainID]Chain        // those that are configured
	Hot      func(bursar.ChainID) string     // the hot wallet's address
	Cold     map[bursar.ChainID][]string     // the addresses of cold wallets
	Nodes    func(bursar.ChainID) []Node     // may be nil
	Worth    func(bursar.CurrencyCode) Worth // what a whole unit is worth now; may be nil
	Settings []Setting
	// Epochs reads which epoch of the seed each configured chain is in; nil: that is not known.
	Epochs func(ctx context.Context, tx *store.Tx) ([]Epoch, error)
}

// Worth is the rate of a currency in the reference currency. A rate that is not known is zero.
type Worth struct {
	Rate   bursar.Rate
	Unit   bursar.Unit
	Source string
	At     time.Time // zero: the operator's own rate, which has no time
}

// Reader reads sheets. It is safe for concurrent use.
type Reader struct{ Config }

// Page is one sheet that can be asked for.
type Page struct {
	Path  string // "/deposits"
	Name  string // in the menu; empty: it is reached from others
	Title string
	Whole bool // of the whole service: not for those who may see some accounts only
	read  func(context.Context, *reading) (Sheet, error)
}

// reading is one sheet being read.
type reading struct {
	*Reader
	*asked
	tx *store.Tx
}

// readWithin bounds how long a sheet may take.
const readWithin = 15 * time.Second

// Pages are all sheets, in the order of the menu.
func Pages() []Page {
	return []Page{
		{"/", "Home", "Home", false, readHome},
		{"/charges", "Charges", "Charges", false, readCharges},
		{"/charges/{id}", "", "Charge", false, readCharge},
		{"/deposits", "Deposits", "Deposits", false, readDeposits},
		{"/deposits/{id}", "", "Deposit", false, readDeposit},
		{"/wallets", "Wallets", "Wallets", false, readWallets},
		{"/wallets/{id}", "", "Wallet", false, readWallet},
		{"/withdrawals", "Withdrawals", "Withdrawals", false, readWithdrawals},
		{"/withdrawals/{id}", "", "Withdrawal", false, readWithdrawal},
		{"/unattributed", "Unattributed", "Unattributed deposits", true, readUnattributed},
		{"/balances", "Balances", "Balances and solvency", true, readBalances},
		{"/chains", "Chains", "Chains and nodes", true, readChains},
		{"/epochs", "Chains", "Epochs of the seed", true, readEpochs},
		{"/webhooks", "Webhooks", "Webhooks", false, readWebhooks},
		{"/webhooks/{id}", "", "Event", false, readWebhook},
		{"/ledger", "Ledger", "Ledger", true, readLedger},
		{"/accounts", "Accounts", "Accounts and keys", false, readAccounts},
		{"/accounts/{id}", "", "Account", false, readAccount},
		{"/order-keys", "Accounts", "Order keys", false, readOrderKeys},
		{"/settings", "Settings", "Settings", true, readSettings},
		{"/search", "", "Search", false, readSearch},
	}
}

// Read returns a page's sheet. Its errors for people are *bursar.Error: not_found for an object that is unknown or of
// an account that may not be seen, invalid_request for a parameter.
func (r *Reader) Read(ctx context.Context, p Page, q Query) (sheet Sheet, err error) {
	if p.Whole && len(q.Accounts) > 0 {
		return sheet, bursar.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	err = r.DB.View(ctx, func(tx *store.Tx) error {
		a := &asked{Query: q}
		sheet, err = p.read(ctx, &reading{Reader: r, asked: a, tx: tx})
		if a.err != nil {
			return a.err
		}
		if errors.Is(err, store.ErrNotFound) {
			return bursar.ErrNotFound
		}
		return err
	})
	if sheet.Title == "" {
		sheet.Title = p.Title
	}
	return sheet, err
}

// amount writes an amount in whole units. One of a currency that is no longer configured is in its smallest units.
func (r *Reader) amount(code bursar.CurrencyCode, a bursar.Amount) string {
	if c, err := r.Registry.Get(code); err == nil {
		return c.Exact(a)
	}
	return a.String() + " units"
}

// codes are the currencies, for filters.
func (r *Reader) codes() (codes []bursar.CurrencyCode) {
	for _, c := range r.Registry.All() {
		codes = append(codes, c.Code)
	}
	return codes
}

// everyChain returns the chains of all currencies, also of those that are not configured now: their deposits remain.
func (r *Reader) everyChain() (chains []bursar.ChainID) {
	seen := map[bursar.ChainID]bool{}
	for _, c := range r.Registry.All() {
		if !seen[c.Chain] {
			seen[c.Chain] = true
			chains = append(chains, c.Chain)
		}
	}
	return chains
}

// Package ledger is the pure accounting of the service: the chart of accounts, entries of postings, and one constructor
// for each business event. It knows no database, no chain and no clock.
//
// Its invariants: a posting names one debit and one credit account, so an entry balances by construction; an entry is
// named by (Kind, Ref), so the store can refuse to post it twice; entries are never changed, mistakes are reversed by a
// new entry.
package ledger

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Account is a line of the chart of accounts, such as "custody" or "customer:<account id>:available".
type Account string

// The operator's side of the chart.
const (
	Custody        Account = "custody"         // asset: what the final chain holds at addresses of ours
	Capital        Account = "capital"         // equity: the operator's own money at hot addresses
	Drawings       Account = "drawings"        // equity: what the operator took out of its own, which makes it less
	Unattributed   Account = "unattributed"    // liability: value that fits no wallet, until the operator decides
	Returning      Account = "returning"       // liability: such value on its way back, until its payment is final
	BelowMinimum   Account = "below_minimum"   // liability: deposits too small to credit
	DepositFees    Account = "fees:deposit"    // income
	WithdrawalFees Account = "fees:withdrawal" // income
	NetworkFees    Account = "fees:network"    // expense: what chains took for transactions of ours
	Losses         Account = "losses"          // expense: what a chain took back after it was paid out again
)

const customer = "customer:"

// Available is what an account's owner can spend.
func Available(id bursar.ID) Account { return Account(customer + id.String() + ":available") }

// Held is what is set aside for withdrawals under way.
func Held(id bursar.ID) Account { return Account(customer + id.String() + ":held") }

// Customer returns whose account it is, and false for one of the operator's.
func (a Account) Customer() (bursar.ID, bool) {
	rest, ok := strings.CutPrefix(string(a), customer)
	if !ok {
		return bursar.ID{}, false
	}
	text, _, _ := strings.Cut(rest, ":")
	id, err := bursar.ParseID(text)
	return id, err == nil
}

// Type is an account's nature, which says on which side it grows.
type Type string

// The five types of accounts.
const (
	Asset     Type = "asset"
	Liability Type = "liability"
	Equity    Type = "equity"
	Income    Type = "income"
	Expense   Type = "expense"
)

// Type returns the account's nature; customers' accounts are liabilities.
func (a Account) Type() Type {
	switch a {
	case Custody:
		return Asset
	case Capital, Drawings:
		return Equity
	case DepositFees, WithdrawalFees:
		return Income
	case NetworkFees, Losses:
		return Expense
	}
	return Liability
}

// Kind names a business event.
type Kind string

// Ref names the one thing an entry of its kind is about: a deposit, a withdrawal, an outgoing transaction.
type Ref string

// Posting moves an amount of one asset from the credit to the debit account.
type Posting struct {
	Debit  Account
	Credit Account
	Asset  bursar.CurrencyCode
	Amount bursar.Amount
}

// Entry is one business event in the books.
type Entry struct {
	Kind     Kind
	Ref      Ref
	At       time.Time
	Postings []Posting
}

// Balance is the two running totals of one account in one asset. Neither ever shrinks.
type Balance struct {
	Debits  bursar.Amount
	Credits bursar.Amount
}

// Net returns what the account holds on the side it grows, and whether the balance stands on the other side instead.
func (b Balance) Net(t Type) (amount bursar.Amount, negative bool) {
	grow, shrink := b.Credits, b.Debits
	if t == Asset || t == Expense {
		grow, shrink = shrink, grow
	}
	if d, err := grow.Sub(shrink); err == nil {
		return d, false
	}
	return shrink.SubOrZero(grow), true
}

// Apply adds a posting's amount to the side of the balance that it names.
func (b Balance) Apply(account Account, p Posting) (Balance, error) {
	var err error
	if p.Debit == account {
		b.Debits, err = b.Debits.Add(p.Amount)
	}
	if err == nil && p.Credit == account {
		b.Credits, err = b.Credits.Add(p.Amount)
	}
	return b, err
}

// MaxPostings bounds the postings of one entry.
const MaxPostings = 200

// ErrMalformed is returned for an entry that no business event makes.
var ErrMalformed = errors.New("malformed ledger entry")

// Check refuses an entry without a name or postings or with more than MaxPostings, and a posting of nothing, of no
// asset or from an account to itself.
func (e Entry) Check() error {
	if e.Kind == "" || e.Ref == "" || len(e.Postings) == 0 || len(e.Postings) > MaxPostings {
		return fmt.Errorf("%w: %s %q has %d postings", ErrMalformed, e.Kind, e.Ref, len(e.Postings))
	}
	for _, p := range e.Postings {
		if p.Debit == "" || p.Credit == "" || p.Debit == p.Credit || p.Asset == "" || p.Amount.IsZero() {
			return fmt.Errorf("%w: %s %q posts %s %s from %q to %q", ErrMalformed, e.Kind, e.Ref, p.Amount, p.Asset, p.Credit,
				p.Debit)
		}
	}
	return nil
}

// MayOverdraw reports whether the entry may take a customer below zero: only what a chain took back may.
func (e Entry) MayOverdraw() bool {
	return e.Kind == KindDepositReversed || e.Kind == KindUnsettled || e.Kind == KindPayoutShortUndone
}

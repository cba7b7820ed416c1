// Package ledger defines the accounting of the service. It owns the chart of accounts, the form of entries and their
// postings, and one constructor for each business event. It never reads a database, a chain or a clock.
//
// Its invariants: a posting names one debit and one credit account, so an entry balances by construction; an entry is
// named by (Kind, Ref), so the store can refuse to post it twice; entries never change, and a mistake is reversed by a
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

// The accounts of the operator.
const (
	Custody        Account = "custody"         // asset: what addresses of the service hold in final blocks
	CustodyCold    Account = "custody:cold"    // asset: what cold wallets hold in final blocks; custody is the rest
	Capital        Account = "capital"         // equity: operator funds in hot wallets
	Drawings       Account = "drawings"        // equity: operator funds that the operator took out; they reduce equity
	Unattributed   Account = "unattributed"    // liability: value that belongs to no wallet, until it is resolved
	Refunding      Account = "returning"       // liability: such value being refunded, until the payment is final
	BelowMinimum   Account = "below_minimum"   // liability: deposits too small to credit
	DepositFees    Account = "fees:deposit"    // income
	WithdrawalFees Account = "fees:withdrawal" // income
	NetworkFees    Account = "fees:network"    // expense: fees of outgoing transactions
	Losses         Account = "losses"          // expense: what was reorged out after it had been paid out
)

const customer = "customer:"

// Available is the account of what a customer can spend.
func Available(id bursar.ID) Account { return Account(customer + id.String() + ":available") }

// Held is the account of what is set aside for a customer's withdrawals under way.
func Held(id bursar.ID) Account { return Account(customer + id.String() + ":held") }

// Customer returns the customer whose account it is, and false for an account of the operator.
func (a Account) Customer() (bursar.ID, bool) {
	rest, ok := strings.CutPrefix(string(a), customer)
	if !ok {
		return bursar.ID{}, false
	}
	text, _, _ := strings.Cut(rest, ":")
	id, err := bursar.ParseID(text)
	return id, err == nil
}

// Type is the type of an account, which determines the side on which it grows.
type Type string

// The five types of accounts.
const (
	Asset     Type = "asset"
	Liability Type = "liability"
	Equity    Type = "equity"
	Income    Type = "income"
	Expense   Type = "expense"
)

// Type returns the account's type; customers' accounts are liabilities.
func (a Account) Type() Type {
	switch a {
	case Custody, CustodyCold:
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

// Kind names the business event of an entry.
type Kind string

// Ref names the object of an entry, unique within its kind: a deposit, a withdrawal, an outgoing transaction.
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

// Balance is the debit and credit totals of one account in one asset. Neither ever shrinks.
type Balance struct {
	Debits  bursar.Amount
	Credits bursar.Amount
}

// Net returns the balance on the side on which an account of type t grows. negative says that the balance is on the
// other side; amount is then the size of the deficit.
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

// Apply adds a posting's amount to the side of the balance that the posting names.
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

// MaxPostings is the largest number of postings of one entry.
const MaxPostings = 200

// ErrMalformed is returned for an entry that no business event produces.
var ErrMalformed = errors.New("malformed ledger entry")

// Check refuses an entry without a name or postings or with more than MaxPostings, and a posting of zero, of no asset
// or from an account to itself.
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

// MayOverdraw reports whether the entry may take a customer below zero: only the reversal of what was reorged out may.
func (e Entry) MayOverdraw() bool {
	return e.Kind == KindDepositReversed || e.Kind == KindUnsettled || e.Kind == KindPayoutShortUndone
}

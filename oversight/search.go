package oversight

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// mostFound is the most objects of one kind that a search shows.
const mostFound = 50

// maxSearch bounds what is looked for; no address, hash or reference is longer.
const maxSearch = 256

// search is one search among what may be seen.
type search struct {
	*reading
	q           string
	at          []store.WalletAddress // what it is as an address
	on          []bursar.ChainID      // and on which chains
	wallets     []bursar.Wallet
	charges     []store.WalkedCharge
	deposits    []bursar.Deposit
	withdrawals []bursar.Withdrawal
	events      []store.Delivery
	accounts    []bursar.Account
	notes       []string
	rescan      string // the query of the form that searches blocks again; empty: nothing was missed
}

// readSearch finds what has exactly the text: each kind of text by its own index.
func readSearch(ctx context.Context, r *reading) (s Sheet, err error) {
	q := strings.TrimSpace(r.text("q"))
	s.Fields = []Field{r.field("q", "Search", "ID, transaction, address, tag, reference or amount")}
	if q == "" {
		s.Notes = []string{"Look for a charge, deposit, withdrawal, event, account or wallet by its ID; for a transaction; " +
			"for an address in any spelling; for a tag; for a reference; or for an exact amount, such as 0.15 BTC."}
		return s, nil
	}
	if len(q) > maxSearch || !bursar.Storable(q, maxSearch) {
		r.refuse("q", "q is UTF-8 without zero bytes, with 1 to %d bytes", maxSearch)
		return s, r.err
	}
	f := &search{reading: r, q: q}
	for _, by := range []func(context.Context) error{f.byID, f.byHash, f.byAddress, f.byTag, f.byReference,
		f.byAmount} {
		if err := by(ctx); err != nil {
			return s, err
		}
	}
	s.Title = "Search: " + q
	return s, f.show(ctx, &s)
}

// byID looks for the object of an ID.
func (f *search) byID(ctx context.Context) error {
	id, err := bursar.ParseID(f.q)
	if err != nil {
		return nil
	}
	tries := []func() error{
		func() error { return found(&f.wallets)(f.tx.Wallets().ByID(ctx, id)) },
		func() error { return found(&f.deposits)(f.tx.Deposits().ByID(ctx, id)) },
		func() error { return found(&f.withdrawals)(f.tx.Withdrawals().ByID(ctx, id)) },
		func() error { return found(&f.events)(f.tx.Deliveries().ByID(ctx, id)) },
		func() error { return found(&f.accounts)(f.tx.Accounts().Get(ctx, id)) },
		func() error {
			v, err := f.tx.Invoices().ByID(ctx, id)
			return found(&f.charges)(store.WalkedCharge{Sum: &v}, err)
		},
		func() error {
			c, err := f.tx.Charges().ByID(ctx, id)
			return found(&f.charges)(store.WalkedCharge{Single: &c}, err)
		},
	}
	for _, try := range tries {
		if err := try(); err != nil {
			return err
		}
	}
	f.hide()
	return nil
}

// found adds what was read; nothing where it is not there.
func found[T any](to *[]T) func(T, error) error {
	return func(v T, err error) error {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			*to = append(*to, v)
		}
		return err
	}
}

// hide removes what belongs to accounts that may not be seen, and wallets that are charges.
func (f *search) hide() {
	f.wallets = slices.DeleteFunc(f.wallets, func(w bursar.Wallet) bool { return w.ForCharge || !f.shows(w.AccountID) })
	f.deposits = slices.DeleteFunc(f.deposits, func(d bursar.Deposit) bool { return !f.shows(d.AccountID) })
	f.withdrawals = slices.DeleteFunc(f.withdrawals, func(w bursar.Withdrawal) bool { return !f.shows(w.AccountID) })
	f.events = slices.DeleteFunc(f.events, func(d store.Delivery) bool { return !f.shows(d.AccountID) })
	f.accounts = slices.DeleteFunc(f.accounts, func(a bursar.Account) bool { return !f.shows(a.ID) })
	f.charges = slices.DeleteFunc(f.charges, func(c store.WalkedCharge) bool {
		if c.Sum != nil {
			return !f.shows(c.Sum.AccountID)
		}
		return !f.shows(c.Single.AccountID)
	})
}

// of adds wallets and charges, with deposits to them.
func (f *search) of(ctx context.Context, own []bursar.Wallet) error {
	var adding, numbers []int64
	for _, w := range own {
		numbers = append(numbers, w.Number)
		switch {
		case w.ForInvoice:
			adding = append(adding, w.Number)
		case w.ForCharge:
			c, err := f.tx.Charges().ByID(ctx, w.ID)
			if err := found(&f.charges)(store.WalkedCharge{Single: &c}, err); err != nil {
				return err
			}
		default:
			f.wallets = append(f.wallets, w)
		}
	}
	ids, err := f.tx.Invoices().IDsOfWallets(ctx, adding)
	if err != nil {
		return err
	}
	for _, n := range adding {
		v, err := f.tx.Invoices().ByID(ctx, ids[n])
		if err := found(&f.charges)(store.WalkedCharge{Sum: &v}, err); err != nil {
			return err
		}
	}
	deposits, err := f.tx.Deposits().ToWallets(ctx, numbers, mostFound)
	f.deposits = append(f.deposits, deposits...)
	return err
}

// show adds a table for each kind that was found.
func (f *search) show(ctx context.Context, s *Sheet) error {
	s.Notes = f.notes
	if f.rescan != "" {
		s.alert("", "Search blocks again", "/do/chain.rescan?"+f.rescan)
	}
	f.once()
	if len(f.charges) > 0 {
		s.Tables = append(s.Tables, f.chargeTable(f.charges, 0))
	}
	if len(f.deposits) > 0 {
		s.Tables = append(s.Tables, f.depositTable(f.deposits, 0))
	}
	if len(f.withdrawals) > 0 {
		t, err := f.withdrawalTable(ctx, f.withdrawals, 0)
		if err != nil {
			return err
		}
		s.Tables = append(s.Tables, t)
	}
	if len(f.wallets) > 0 {
		s.Tables = append(s.Tables, walletTable(f.wallets, 0))
	}
	if len(f.events) > 0 {
		s.Tables = append(s.Tables, f.deliveryTable(f.events, 0))
	}
	for _, a := range f.accounts {
		c := named("/accounts", a.ID)
		s.link("account", "Account", Ident, c.Text, c.Link)
	}
	if len(s.Tables)+len(f.accounts) == 0 {
		s.Notes = append([]string{"Nothing has exactly this."}, s.Notes...)
	}
	return nil
}

// once removes what was found twice, by several meanings of the text.
func (f *search) once() {
	f.deposits = distinct(f.deposits, func(d bursar.Deposit) int64 { return d.Number })
	f.withdrawals = distinct(f.withdrawals, func(w bursar.Withdrawal) int64 { return w.Number })
	f.charges = distinct(f.charges, store.WalkedCharge.Number)
	f.wallets = distinct(f.wallets, func(w bursar.Wallet) int64 { return w.Number })
}

// distinct keeps the first of each number, and not more than are shown.
func distinct[T any](list []T, number func(T) int64) (kept []T) {
	seen := map[int64]bool{}
	for _, v := range list {
		if n := number(v); !seen[n] && len(kept) < mostFound {
			seen[n] = true
			kept = append(kept, v)
		}
	}
	return kept
}

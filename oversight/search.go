package oversight

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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

// byHash looks for deposits in a transaction, and for withdrawals that it pays.
func (f *search) byHash(ctx context.Context) error {
	if !isHash(f.q) {
		return nil
	}
	hashes := spellings(f.q)
	deposits, err := f.tx.Deposits().InTxs(ctx, f.Accounts, f.everyChain(), hashes, mostFound)
	if err != nil {
		return err
	}
	withdrawals, err := f.tx.Withdrawals().Found(ctx, f.Accounts, store.WithdrawalFilter{TxIDs: hashes}, mostFound)
	f.deposits, f.withdrawals = append(f.deposits, deposits...), append(f.withdrawals, withdrawals...)
	if err == nil && len(deposits)+len(withdrawals) == 0 && len(f.Accounts) == 0 {
		f.notes = append(f.notes, "No deposit or withdrawal has this transaction. If it paid an address of this service, "+
			"search its block again: `bursar chain rescan --chain CHAIN --tx "+f.q+"`")
		f.rescan = url.Values{"tx": {f.q}}.Encode()
	}
	return err
}

// isHash reports whether a text may be a transaction's ID: Solana's are the shortest alphabet and the longest text.
func isHash(q string) bool {
	return len(q) >= 43 && len(q) <= 128 && strings.Trim(q, "0123456789abcdefghijklmnopqrstuvwxyz"+
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// spellings returns the forms in which chains may write a hash that was written in one of them: hexadecimal in lower
// case (Bitcoin, Tron), in upper case (XRPL), or after 0x (Ethereum). A hash in another alphabet has one form.
func spellings(hash string) []string {
	bare := strings.TrimPrefix(strings.ToLower(hash), "0x")
	all := []string{hash}
	if strings.Trim(bare, "0123456789abcdef") == "" {
		all = append(all, bare, strings.ToUpper(bare), "0x"+bare)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// byAddress looks for the wallet or charge of an address, for deposits to it, and for withdrawals to it.
func (f *search) byAddress(ctx context.Context) error {
	f.parse()
	if len(f.at) == 0 {
		return nil
	}
	owned, err := f.tx.Wallets().At(ctx, f.at)
	if err != nil {
		return err
	}
	var own []bursar.Wallet
	for _, w := range owned {
		if f.shows(w.AccountID) {
			own = append(own, w)
		}
	}
	slices.SortFunc(own, func(a, b bursar.Wallet) int { return int(b.Number - a.Number) })
	if err := f.of(ctx, own); err != nil {
		return err
	}
	addresses := make([]bursar.Address, len(f.at))
	for i, a := range f.at {
		addresses[i] = a.Address
	}
	withdrawals, err := f.tx.Withdrawals().Found(ctx, f.Accounts, store.WithdrawalFilter{Addresses: addresses}, mostFound)
	f.withdrawals = append(f.withdrawals, withdrawals...)
	f.whose(len(own) > 0, len(withdrawals) > 0)
	return err
}

// parse reads the text as an address, in any spelling that a chain has. Chains of one family share theirs.
func (f *search) parse() {
	for _, id := range f.everyChain() {
		c, on := f.Chains[id]
		if !on {
			continue
		}
		address, err := c.ParseAddress(f.q)
		if err != nil {
			continue
		}
		f.on = append(f.on, id)
		if at := (store.WalletAddress{Family: c.Capabilities().Family, Address: address}); !slices.Contains(f.at, at) {
			f.at = append(f.at, at)
		}
	}
}

// whose says whose address it is, or whose it could be, and how to look for what arrived there.
func (f *search) whose(ours, paid bool) {
	for _, id := range f.on {
		address, err := f.Chains[id].ParseAddress(f.q)
		switch {
		case err != nil:
		case f.Hot(id) != "" && address.Base == f.Hot(id):
			f.notes = append(f.notes, fmt.Sprintf("It is the hot wallet's address on %s.", id))
			ours = true
		case f.isCold(id, address.Base):
			f.notes = append(f.notes, fmt.Sprintf("It is the address of a cold wallet on %s.", id))
			ours = true
		}
	}
	if ours {
		return
	}
	is := "It is a valid address of " + list(f.on) + ", and no wallet or charge has it here."
	if paid {
		is += " Withdrawals went there."
	}
	if len(f.Accounts) == 0 {
		is += " It may be somebody else's, of another service, or of a database before a restore. If value of ours " +
			"arrived at an address of ours and is not shown, search the blocks again: `bursar chain rescan --chain " +
			string(f.on[0]) + " --from HEIGHT`"
		f.rescan = url.Values{"object": {string(f.on[0])}}.Encode()
	}
	f.notes = append(f.notes, is)
}

// byTag looks for what has a destination tag, without the address that wallets share.
func (f *search) byTag(ctx context.Context) error {
	tag, err := strconv.ParseUint(f.q, 10, 32)
	if err != nil || strconv.FormatUint(tag, 10) != f.q {
		return nil
	}
	own, err := f.tx.Wallets().WithMemo(ctx, f.Accounts, int64(tag), mostFound)
	if err != nil {
		return err
	}
	return f.of(ctx, own)
}

// byReference looks for what a client has named so, or what is a customer's.
func (f *search) byReference(ctx context.Context) error {
	invoices, err := f.tx.Invoices().Named(ctx, f.Accounts, store.ChargeFilter{Reference: f.q}, mostFound)
	if err != nil {
		return err
	}
	customers, err := f.tx.Invoices().OfCustomer(ctx, f.Accounts, f.q, mostFound)
	if err != nil {
		return err
	}
	f.charges = append(append(f.charges, sums(invoices)...), sums(customers)...)
	withdrawals, err := f.tx.Withdrawals().Found(ctx, f.Accounts, store.WithdrawalFilter{Reference: f.q}, mostFound)
	f.withdrawals = append(f.withdrawals, withdrawals...)
	return err
}

// byAmount looks for deposits and withdrawals of exactly an amount, such as "0.15" or "0.15 BTC", among the newest.
func (f *search) byAmount(ctx context.Context) error {
	figure, code, _ := strings.Cut(f.q, " ")
	if strings.Trim(figure, "0123456789.") != "" || !strings.ContainsAny(figure, "123456789") || len(figure) > 40 {
		return nil
	}
	looked := false
	for _, c := range f.Registry.All() {
		if code != "" && !strings.EqualFold(code, string(c.Code)) {
			continue
		}
		a, err := bursar.ParseDecimal(figure, c.Decimals)
		if err != nil {
			continue
		}
		looked = true
		walk := store.Walk{Limit: mostFound, Accounts: f.Accounts}
		deposits, _, err := f.tx.Deposits().Walk(ctx, store.DepositFilter{Amount: a, Currency: c.Code}, walk)
		if err != nil {
			return err
		}
		withdrawals, _, err := f.tx.Withdrawals().Walk(ctx, store.WithdrawalFilter{Amount: a, Currency: c.Code}, walk)
		if err != nil {
			return err
		}
		f.deposits, f.withdrawals = append(f.deposits, deposits...), append(f.withdrawals, withdrawals...)
	}
	if looked {
		f.notes = append(f.notes, "An amount is looked for among the newest 20000 deposits and withdrawals.")
	}
	return nil
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

package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// ErrPosted is returned for an entry whose kind and reference are in the books already.
var ErrPosted = errors.New("this business event is posted already")

// Post writes the entries into the books, all or none. Errors: ErrPosted, ErrNotHeld, ledger.ErrInsufficient,
// ledger.ErrMalformed.
func (tx Ledger) Post(ctx context.Context, entries ...ledger.Entry) error {
	errs, err := tx.PostEach(ctx, entries)
	return cmp.Or(err, errors.Join(errs...))
}

// PostEach writes each entry that can be posted, in order, and returns for each nil or why it was refused; a refused
// entry leaves no trace. The second error is the database's and concerns all of them.
func (tx Ledger) PostEach(ctx context.Context, entries []ledger.Entry) ([]error, error) {
	groups := make([][]ledger.Entry, len(entries))
	for i := range entries {
		groups[i] = entries[i : i+1]
	}
	return tx.PostGroups(ctx, groups)
}

// PostGroups is PostEach for groups of entries that belong together: each group is posted whole, in order, or refused
// whole. It takes the same number of statements whatever the number of groups.
//
// Balances are locked in the order of their names, so transactions that post to the same accounts wait for each other
// and never in a circle.
func (tx Ledger) PostGroups(ctx context.Context, groups [][]ledger.Entry) ([]error, error) {
	errs := make([]error, len(groups))
	entries := slices.Concat(groups...)
	if len(entries) == 0 {
		return errs, nil
	}
	failed := make([]error, len(entries))
	if err := tx.refuseNotHeld(ctx, entries, failed); err != nil { // first: afterwards the books have these entries too
		return nil, err
	}
	names, err := tx.insertEntries(ctx, entries, failed)
	if err != nil {
		return nil, err
	}
	keys := sortedKeys(entries)
	balances, err := tx.readBalances(ctx, keys, tx.forUpdate())
	if err != nil {
		return nil, err
	}
	numbers, err := names.numbers(ctx, failed)
	if err != nil {
		return nil, err
	}
	books, err := tx.lockBalances(ctx, keys, balances)
	if err != nil {
		return nil, err
	}
	accepted, acceptedNumbers := make([]ledger.Entry, 0, len(entries)), make([]int64, 0, len(entries))
	var refused []int64
	at := 0
	for i, group := range groups {
		of := numbers[at : at+len(group)]
		if errs[i] = cmp.Or(failed[at : at+len(group)]...); errs[i] == nil {
			errs[i] = books.PostAll(group)
		}
		if errs[i] == nil {
			accepted, acceptedNumbers = append(accepted, group...), append(acceptedNumbers, of...)
		} else {
			refused = append(refused, of...)
		}
		at += len(group)
	}
	if err := tx.dropEntries(ctx, refused); err != nil {
		return nil, err
	}
	if err := tx.insertPostings(ctx, accepted, acceptedNumbers); err != nil {
		return nil, err
	}
	tx.sealing.note(accepted, acceptedNumbers)
	return errs, tx.writeBalances(ctx, accepted, books)
}

func sortedKeys(entries []ledger.Entry) []ledger.Key {
	seen := make(map[ledger.Key]bool, len(entries))
	keys := make([]ledger.Key, 0, len(entries))
	for _, e := range entries {
		for _, k := range e.Keys() {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	slices.SortFunc(keys, byName)
	return keys
}

func byName(a, b ledger.Key) int {
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Asset, b.Asset))
}

// lockBalances returns balances that were read for writing. Those that do not exist are created first, because a row
// that is not there cannot be locked.
func (tx *Tx) lockBalances(ctx context.Context, keys []ledger.Key, read *Deferred[ledger.Books]) (ledger.Books, error) {
	books, err := read.Get(ctx)
	if err != nil || len(books) == len(keys) {
		return books, err
	}
	in := insertion{what: "create balances", table: "balances", rows: len(keys),
		after: ` ON CONFLICT (account, asset) DO NOTHING`}
	for _, k := range keys {
		in.add(values{{"account", string(k.Account)}, {"asset", string(k.Asset)}, {"debits", "0"}, {"credits", "0"}})
	}
	if err := tx.insertRows(ctx, in); err != nil {
		return nil, err
	}
	if read, err = tx.readBalances(ctx, keys, tx.forUpdate()); err != nil {
		return nil, err
	}
	return read.Get(ctx)
}

// currentBalance is a balance as the books have it.
type currentBalance struct {
	key ledger.Key
	is  ledger.Balance
}

func scanStanding(s scanner) (b currentBalance, err error) {
	return b, s.Scan(&b.key.Account, &b.key.Asset, &b.is.Debits, &b.is.Credits)
}

const standingQuery = `SELECT account, asset, debits, credits FROM `

func (tx *Tx) readBalances(ctx context.Context, keys []ledger.Key, lock string) (*Deferred[ledger.Books], error) {
	those, args, err := pairs(tx, "(account, asset)", keyArgs(keys))
	if err != nil {
		return nil, err
	}
	return ask(ctx, tx, "read balances", scanStanding, func(list []currentBalance) (ledger.Books, error) {
		books := make(ledger.Books, len(list))
		for _, b := range list {
			books[b.key] = b.is
		}
		return books, nil
	}, standingQuery+`balances WHERE `+those+` ORDER BY account, asset`+lock, args...), nil
}

func (tx *Tx) insertPostings(ctx context.Context, entries []ledger.Entry, numbers []int64) error {
	in := insertion{what: "insert postings", table: "postings", rows: 2 * len(entries)}
	for i, e := range entries {
		for line, p := range e.Postings {
			in.add(values{
				{"entry", numbers[i]},
				{"place", line},
				{"debit", string(p.Debit)},
				{"credit", string(p.Credit)},
				{"asset", string(p.Asset)},
				{"amount", p.Amount},
			})
		}
	}
	return tx.insertRows(ctx, in)
}

func (tx *Tx) writeBalances(ctx context.Context, entries []ledger.Entry, books ledger.Books) error {
	keys := sortedKeys(entries)
	in := insertion{what: "write balances", table: "balances", rows: len(keys), after: ` ON CONFLICT (account, asset)
		DO UPDATE SET debits = excluded.debits, credits = excluded.credits, below = excluded.below`}
	for _, k := range keys {
		in.add(values{
			{"account", string(k.Account)},
			{"asset", string(k.Asset)},
			{"debits", books[k].Debits},
			{"credits", books[k].Credits},
			{"below", below(k, books[k])},
		})
	}
	return tx.insertRows(ctx, in)
}

// below reports a liability that stands on the wrong side.
func below(k ledger.Key, b ledger.Balance) bool {
	_, negative := b.Net(ledger.Liability)
	return negative && k.Account.Type() == ledger.Liability
}

// IsPosted reports whether an entry of that kind and reference is in the books.
func (tx Ledger) IsPosted(ctx context.Context, e ledger.Entry) (there bool, err error) {
	err = tx.row(ctx, "look up entry", `SELECT EXISTS (SELECT 1 FROM entries WHERE kind = $1 AND ref = $2)`,
		[]any{string(e.Kind), string(e.Ref)}, &there)
	return there, err
}

// Balance returns one account's balance in one asset, zero where nothing was ever posted.
func (tx Ledger) Balance(ctx context.Context, account ledger.Account,
	asset bursar.CurrencyCode) (ledger.Balance, error) {
	var b ledger.Balance
	err := tx.row(ctx, "read balance", `SELECT debits, credits FROM balances WHERE account = $1 AND asset = $2`,
		[]any{string(account), string(asset)}, &b.Debits, &b.Credits)
	if errors.Is(err, ErrNotFound) {
		return ledger.Balance{}, nil
	}
	return b, err
}

// Balances returns one account's balance in every asset that it has ever held.
func (tx Ledger) Balances(ctx context.Context, account ledger.Account) (map[bursar.CurrencyCode]ledger.Balance, error) {
	balances := map[bursar.CurrencyCode]ledger.Balance{}
	_, err := rows(ctx, tx.Tx, "read balances", func(s scanner) (struct{}, error) {
		var code bursar.CurrencyCode
		var b ledger.Balance
		err := s.Scan(&code, &b.Debits, &b.Credits)
		balances[code] = b
		return struct{}{}, err
	}, `SELECT asset, debits, credits FROM balances WHERE account = $1`, string(account))
	return balances, err
}

// AccountBalances are the balances of a customer's account, by currency.
type AccountBalances struct {
	Available, Held map[bursar.CurrencyCode]ledger.Balance
	Pending         map[bursar.CurrencyCode]bursar.Amount // in deposits that are not credited yet
}

// OfAccounts returns the balances of customers' accounts in every currency that each has ever had, in one statement.
func (tx Ledger) OfAccounts(ctx context.Context, accounts []bursar.ID) (map[bursar.ID]AccountBalances, error) {
	return tx.OfAccountsDeferred(ctx, accounts).Get(ctx)
}

// OfAccountsDeferred is OfAccounts as a Deferred.
func (tx Ledger) OfAccountsDeferred(
	ctx context.Context, accounts []bursar.ID,
) *Deferred[map[bursar.ID]AccountBalances] {
	found := make(map[bursar.ID]AccountBalances, len(accounts))
	of := make(map[ledger.Account]map[bursar.CurrencyCode]ledger.Balance, 2*len(accounts))
	names := make([]string, 0, 2*len(accounts))
	for _, id := range accounts {
		sums := AccountBalances{
			Available: map[bursar.CurrencyCode]ledger.Balance{},
			Held:      map[bursar.CurrencyCode]ledger.Balance{},
			Pending:   map[bursar.CurrencyCode]bursar.Amount{},
		}
		found[id] = sums
		available, held := ledger.Available(id), ledger.Held(id)
		of[available], of[held] = sums.Available, sums.Held
		names = append(names, string(available), string(held))
	}
	balances, args := among(tx.Tx, "account", names)
	deposits, args := among(tx.Tx, "account_id", accounts, args...)
	return ask(ctx, tx.Tx, "read the balances of accounts", func(s scanner) (struct{}, error) {
		var name ledger.Account
		var account bursar.ID
		var code bursar.CurrencyCode
		var b ledger.Balance
		err := s.Scan(&name, &account, &code, &b.Debits, &b.Credits)
		if balances, is := of[name]; is {
			balances[code] = b
			return struct{}{}, err
		}
		pending := found[account].Pending
		var sumErr error
		pending[code], sumErr = pending[code].Add(b.Credits)
		return struct{}{}, errors.Join(err, sumErr)
	}, func([]struct{}) (map[bursar.ID]AccountBalances, error) {
		return found, nil
	}, `SELECT account, NULL, asset, debits, credits FROM balances WHERE `+balances+`
		UNION ALL SELECT '', account_id, currency, '0', `+tx.pendingSum(deposits), args...)
}

// pendingSum ends the statement that reads what is pending. PostgreSQL adds it up, because thousands of rows take
// longer to be sent than to be read; SQLite cannot calculate exactly with numbers of that size.
func (tx *Tx) pendingSum(deposits string) string {
	from := ` FROM deposits WHERE ` + deposits + ` AND status = 'pending'`
	if !tx.postgres {
		return `amount` + from
	}
	return `CAST(SUM(CAST(amount AS NUMERIC)) AS TEXT)` + from + ` GROUP BY account_id, currency`
}

// EachBalance calls f with every balance in the books, in no order.
func (tx Ledger) EachBalance(ctx context.Context, f func(ledger.Key, ledger.Balance) error) error {
	_, err := rows(ctx, tx.Tx, "read all balances", func(s scanner) (struct{}, error) {
		var k ledger.Key
		var b ledger.Balance
		if err := s.Scan(&k.Account, &k.Asset, &b.Debits, &b.Credits); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, f(k, b)
	}, `SELECT account, asset, debits, credits FROM balances`)
	return err
}

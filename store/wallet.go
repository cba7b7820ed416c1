package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// walletFrom reads wallets with the webhook that counts for them: the newest among their own, their currency's and
// their account's.
const (
	walletFrom  = `FROM wallets w` + walletRules
	walletRules = `
	LEFT JOIN webhook_rules rc ON rc.account_id = w.account_id AND rc.currency = w.currency
	LEFT JOIN webhook_rules ra ON ra.account_id = w.account_id AND ra.currency = ''`
)

var walletColumns = columnsOf([]column[bursar.Wallet]{
	{"w.number", func(w *bursar.Wallet) any { return &w.Number }},
	{"w.id", func(w *bursar.Wallet) any { return &w.ID }},
	{"w.account_id", func(w *bursar.Wallet) any { return &w.AccountID }},
	{"w.currency", func(w *bursar.Wallet) any { return &w.Currency }},
	{"w.family", func(w *bursar.Wallet) any { return &w.Family }},
	{"w.key_index", func(w *bursar.Wallet) any { return &w.Index }},
	{"w.base", func(w *bursar.Wallet) any { return &w.Address.Base }},
	{"w.memo", func(w *bursar.Wallet) any { return memo{&w.Address} }},
	{effectiveWebhook, func(w *bursar.Wallet) any { return &w.Webhook }},
	{"w.metadata", func(w *bursar.Wallet) any { return &w.Metadata }},
	{"w.for_charge", func(w *bursar.Wallet) any { return &w.ForCharge }},
	{"w.for_invoice", func(w *bursar.Wallet) any { return &w.ForInvoice }},
	{"w.created_at", func(w *bursar.Wallet) any { return instant{&w.CreatedAt} }},
})

// TakeNumbers hands out n numbers for wallets and returns the first; see the wallets table for what they promise.
func (tx Wallets) TakeNumbers(ctx context.Context, n int) (int64, error) {
	return tx.TakeNumbersDeferred(ctx, n).Get(ctx)
}

// TakeNumbersDeferred is TakeNumbers, beside other statements.
func (tx Wallets) TakeNumbersDeferred(ctx context.Context, n int) *Deferred[int64] {
	return takeDeferred(ctx, tx.Tx, "wallets", n, func(first int64) int64 { return first + 1 })
}

// Take hands out n key indexes of a family and returns the first. They begin at 0 and leave no gap: a transaction
// that is undone gives its own back.
func (tx KeyIndexes) Take(ctx context.Context, family bursar.Family, n int) (uint32, error) {
	return tx.TakeDeferred(ctx, family, n).Get(ctx)
}

// TakeDeferred is Take, beside other statements.
func (tx KeyIndexes) TakeDeferred(ctx context.Context, family bursar.Family, n int) *Deferred[uint32] {
	return takeDeferred(ctx, tx.Tx, "family:"+string(family), n, func(first int64) uint32 { return uint32(first) })
}

// Next returns the index that KeyIndexes.Take would hand out next, without taking it.
func (tx KeyIndexes) Next(ctx context.Context, family bursar.Family) (uint32, error) {
	var next int64
	err := tx.row(ctx, "read next index",
		`SELECT COALESCE((SELECT next FROM counters WHERE name = $1), 0)`, []any{"family:" + string(family)}, &next)
	return uint32(next), err
}

// Insert adds wallets whose numbers and indexes were taken in this transaction. All accounts must exist.
func (tx Wallets) Insert(ctx context.Context, wallets []bursar.Wallet) error {
	accounts := make([]bursar.ID, len(wallets))
	for i, w := range wallets {
		accounts[i] = w.AccountID
	}
	versions, err := tx.WebhookVersionsDeferred(ctx, accounts).Get(ctx)
	if err != nil {
		return err
	}
	return tx.InsertWith(ctx, wallets, versions)
}

// InsertWith is Insert, with what WebhookVersionsDeferred has read of the accounts in this transaction.
func (tx Wallets) InsertWith(ctx context.Context, wallets []bursar.Wallet, versions WebhookVersions) error {
	in := insertion{what: "insert wallets", table: "wallets", rows: len(wallets)}
	for _, w := range wallets {
		in.add(values{
			{"number", w.Number},
			{"id", w.ID},
			{"account_id", w.AccountID},
			{"currency", string(w.Currency)},
			{"family", string(w.Family)},
			{"key_index", int64(w.Index)},
			{"base", w.Address.Base},
			{"memo", memoValue(w.Address)},
			{"webhook", w.Webhook},
			{"webhook_version", versions[w.AccountID]},
			{"metadata", w.Metadata},
			{"for_charge", w.ForCharge},
			{"for_invoice", w.ForInvoice},
			{"created_at", micros(w.CreatedAt)},
		})
	}
	if err := tx.insertRows(ctx, in); err != nil {
		return err
	}
	return tx.countWallets(ctx, wallets)
}

func (tx *Tx) countWallets(ctx context.Context, wallets []bursar.Wallet) error {
	type group struct {
		account  bursar.ID
		currency bursar.CurrencyCode
	}
	counts := map[group]int64{}
	var order []group // the same in every transaction that holds the counters' lock, so no two wait for each other
	for _, w := range wallets {
		g := group{w.AccountID, w.Currency}
		if w.ForCharge {
			continue
		}
		if counts[g] == 0 {
			order = append(order, g)
		}
		counts[g]++
	}
	in := insertion{what: "count wallets", table: "wallet_counts", rows: len(order),
		after: ` ON CONFLICT (account_id, currency) DO UPDATE SET wallets = wallet_counts.wallets + excluded.wallets`}
	for _, g := range order {
		in.add(values{{"account_id", g.account}, {"currency", string(g.currency)}, {"wallets", counts[g]}})
	}
	return tx.insertRows(ctx, in)
}

// OfAccounts returns wallets that are no charges', each by its account and ID, in one statement; another account's is
// left out.
func (tx Wallets) OfAccounts(ctx context.Context, named []WalletName) (map[WalletName]bursar.Wallet, error) {
	return tx.OfAccountsDeferred(ctx, named).Get(ctx)
}

// OfAccountsDeferred is OfAccounts as a Deferred.
func (tx Wallets) OfAccountsDeferred(ctx context.Context, named []WalletName) *Deferred[map[WalletName]bursar.Wallet] {
	ids := make([]bursar.ID, len(named))
	asked := make(map[WalletName]bool, len(named))
	for i, n := range named {
		ids[i], asked[n] = n.ID, true
	}
	those, args := among(tx.Tx, "w.id", ids)
	return ask(ctx, tx.Tx, "read wallets", walletColumns.scan, func(list []bursar.Wallet) (
		map[WalletName]bursar.Wallet, error) {
		found := make(map[WalletName]bursar.Wallet, len(list))
		for _, w := range list {
			if n := (WalletName{w.AccountID, w.ID}); asked[n] {
				found[n] = w
			}
		}
		return found, nil
	}, walletColumns.query+walletFrom+` WHERE w.for_charge = FALSE AND `+those, args...)
}

// Page says where a list continues: below Before (0: from the newest), at most Limit items.
type Page struct {
	Before int64
	Limit  int
	Looks  int // rows that are looked at for a filter without an index of its own; 0: what is usual
}

func (p Page) bound() int64 {
	if p.Before <= 0 {
		return 1<<63 - 1
	}
	return p.Before
}

// List returns an account's wallets, newest first, of one currency or of all for "".
func (tx Wallets) List(ctx context.Context, account bursar.ID, currency bursar.CurrencyCode,
	page Page) ([]bursar.Wallet, error) {
	if currency == "" {
		return walletColumns.rows(ctx, tx.Tx, "list wallets", walletFrom+
			` WHERE w.account_id = $1 AND w.number < $2 AND w.for_charge = FALSE ORDER BY w.number DESC LIMIT $3`,
			account, page.bound(), page.Limit)
	}
	return walletColumns.rows(ctx, tx.Tx, "list wallets", walletFrom+
		` WHERE w.account_id = $1 AND w.currency = $4 AND w.number < $2 AND w.for_charge = FALSE
		ORDER BY w.number DESC LIMIT $3`,
		account, page.bound(), page.Limit, string(currency))
}

// SetMetadata replaces a wallet's metadata and returns the wallet; another account's is ErrNotFound.
func (tx Wallets) SetMetadata(ctx context.Context, account, id bursar.ID, metadata string) (bursar.Wallet, error) {
	err := tx.change(ctx, "set metadata",
		`UPDATE wallets SET metadata = $3 WHERE id = $1 AND account_id = $2 AND for_charge = FALSE`, id, account, metadata)
	if err != nil {
		return bursar.Wallet{}, err
	}
	return tx.Get(ctx, account, id)
}

// Newest returns the number of the newest committed wallet of any family; 0 before the first.
func (tx Wallets) Newest(ctx context.Context) (int64, error) {
	var newest int64
	err := tx.row(ctx, "read newest wallet",
		`SELECT COALESCE((SELECT next FROM counters WHERE name = 'wallets'), 0)`, nil, &newest)
	return newest, err
}

// Oldest returns when the first wallet of any of the currencies was created, and false when there is none.
func (tx Wallets) Oldest(ctx context.Context, currencies []bursar.Currency) (at time.Time, found bool, err error) {
	if len(currencies) == 0 {
		return at, false, nil
	}
	var codes []any
	for _, c := range currencies {
		codes = append(codes, string(c.Code))
	}
	err = tx.row(ctx, "read oldest wallet",
		`SELECT COALESCE((SELECT created_at FROM wallets WHERE currency IN (`+list(len(codes), 0)+`)
		ORDER BY number LIMIT 1), 0)`, codes, instant{&at})
	return at, err == nil && !at.IsZero(), err
}

// Any returns the oldest wallet of a family, and false where it has none. It reads rows until it meets one.
func (tx Wallets) Any(ctx context.Context, family bursar.Family) (bursar.Wallet, bool, error) {
	found, err := walletColumns.rows(ctx, tx.Tx, "read a wallet",
		walletFrom+` WHERE w.family = $1 ORDER BY w.number LIMIT 1`, string(family))
	if err != nil || len(found) == 0 {
		return bursar.Wallet{}, false, err
	}
	return found[0], true, nil
}

// watchedAtOnce is how many numbers of wallets one statement reads through: a server ends statements that take long.
const watchedAtOnce = 200_000

// EachWatched calls f with the address of every wallet of a family whose number is above after and at most upTo, in
// parts; read, where it is not nil, is called with the number up to which all are read, after each part. What was read
// stays read where a later part fails.
func (tx Wallets) EachWatched(ctx context.Context, family bursar.Family, after, upTo int64, f func(base string),
	read func(upTo int64)) error {
	for after < upTo {
		next := min(upTo, after+watchedAtOnce)
		if err := tx.eachWatched(ctx, family, after, next, f); err != nil {
			return err
		}
		if after = next; read != nil {
			read(after)
		}
	}
	return nil
}

func (tx Wallets) eachWatched(ctx context.Context, family bursar.Family, after, upTo int64, f func(base string)) error {
	found, err := tx.query(ctx, `SELECT base FROM wallets WHERE number > $1 AND number <= $2 AND family = $3`,
		after, upTo, string(family))
	if err != nil {
		return tx.fail("read watched addresses", err)
	}
	defer found.Close()
	for found.Next() {
		var base string
		if err := found.Scan(&base); err != nil {
			return tx.fail("read watched addresses", err)
		}
		f(base)
	}
	return found.Err()
}

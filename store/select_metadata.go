package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// metadataPrefix is how many characters of metadata are in an index.
const metadataPrefix = 64

// metadata adds that a column has exactly a text, by its index.
func (c *condition) metadata(column, text string) {
	if text == "" {
		return
	}
	prefix := []rune(text)
	c.text += ` AND ` + column + ` <> ''`
	c.and(`substr(`+column+`, 1, 64) = $?`, string(prefix[:min(len(prefix), metadataPrefix)]))
	c.and(column+` = $?`, text)
}

// WalletFilter selects wallets. What is left zero does not restrict; an empty list that is not nil selects none.
type WalletFilter struct {
	Currency bursar.CurrencyCode
	Metadata string
	From     time.Time // created at or after
	To       time.Time // created before
	Numbers  []int64   // those with one of these numbers
}

// Select returns an account's wallets that a filter selects, newest first. It looks at a bounded number of wallets:
// where these have no whole page, next is the number below which it continues; 0 at the end.
func (tx Wallets) Select(ctx context.Context, account bursar.ID, f WalletFilter, page Page) (list []bursar.Wallet,
	next int64, err error) {
	if f.Numbers != nil && len(f.Numbers) == 0 {
		return nil, 0, nil
	}
	return accountWallets.page(ctx, tx.Tx, account, f.filter(tx.Tx), page)
}

var accountWallets = accountList[bursar.Wallet]{what: "select wallets", from: walletFrom, alias: "w.",
	table: "wallets w", always: ` AND w.for_charge = FALSE`, of: walletColumns}

func (f WalletFilter) filter(tx *Tx) (of filter) {
	if f.Numbers != nil {
		of.served(func(q *condition) { q.in(tx, "w.number", f.Numbers) })
	}
	if f.Metadata != "" {
		of.served(func(q *condition) { q.metadata("w.metadata", f.Metadata) })
	}
	if f.Currency != "" {
		of.served(func(q *condition) { q.and(`w.currency = $?`, string(f.Currency)) })
	}
	of.between("w.created_at", f.From, f.To)
	return of
}

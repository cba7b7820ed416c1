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

// Select returns an account's wallets that a filter selects, newest first.
func (tx Wallets) Select(ctx context.Context, account bursar.ID, f WalletFilter, page Page) ([]bursar.Wallet, error) {
	if f.Numbers != nil && len(f.Numbers) == 0 {
		return nil, nil
	}
	q := condition{args: []any{account, page.bound(), page.Limit}}
	if f.Numbers != nil {
		q.in(tx.Tx, "w.number", f.Numbers)
	}
	q.metadata("w.metadata", f.Metadata)
	if f.Currency != "" {
		q.and(`w.currency = $?`, string(f.Currency))
	}
	q.between("w.created_at", f.From, f.To)
	return walletColumns.rows(ctx, tx.Tx, "select wallets", walletFrom+` WHERE w.account_id = $1 AND w.number < $2
		AND w.for_charge = FALSE`+q.text+` ORDER BY w.number DESC LIMIT $3`, q.args...)
}

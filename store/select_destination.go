package store

import (
	"context"

	"github.com/bursar/bursar"
)

// DestinationFilter selects destinations. What is left zero does not restrict; an empty list that is not nil selects
// none.
type DestinationFilter struct {
	Currency bursar.CurrencyCode // that may go there
	Family   bursar.Family       // of the currency's chain
	Usable   *bool               // the waiting period is over
	At       []WalletAddress     // with one of these addresses
}

// Select returns an account's destinations that a filter selects, newest first.
func (tx Destinations) Select(
	ctx context.Context, account bursar.ID, f DestinationFilter, page Page,
) ([]bursar.Destination, error) {
	if f.At != nil && len(f.At) == 0 {
		return nil, nil
	}
	q := condition{args: []any{account, page.bound(), page.Limit}}
	if f.Currency != "" {
		q.and(`currency IN ('', $?)`, string(f.Currency))
		q.and(`family = $?`, string(f.Family))
	}
	switch {
	case f.Usable == nil:
	case *f.Usable:
		q.and(`usable_from <= $?`, micros(tx.now))
	default:
		q.and(`usable_from > $?`, micros(tx.now))
	}
	if f.At != nil {
		var bases []string
		var memos []int64
		for _, at := range f.At {
			bases, memos = append(bases, at.Address.Base), append(memos, memoValue(at.Address))
		}
		q.in(tx.Tx, "base", distinct(bases))
		q.in(tx.Tx, "memo", distinct(memos)) // of several addresses the text is the same, and the memo none
	}
	return destinationColumns.rows(ctx, tx.Tx, "select destinations", `FROM destinations WHERE account_id = $1
		AND number < $2`+q.text+` ORDER BY number DESC LIMIT $3`, q.args...)
}

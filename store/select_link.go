package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// LinkFilter selects payment links. What is left zero does not restrict.
type LinkFilter struct {
	Open *bool     // it takes charges now, as far as that depends on the link alone
	From time.Time // made at or after
	To   time.Time // made before
}

// Select returns an account's links that a filter selects, newest first.
func (tx PaymentLinks) Select(
	ctx context.Context, account bursar.ID, f LinkFilter, page Page,
) ([]bursar.PaymentLink, error) {
	q := condition{args: []any{account, page.bound(), page.Limit}}
	switch {
	case f.Open == nil:
	case *f.Open:
		q.and(`l.closed_at = 0 AND (l.closes_at = 0 OR l.closes_at > $?)`, micros(tx.now))
	default:
		q.and(`(l.closed_at <> 0 OR l.closes_at <> 0 AND l.closes_at <= $?)`, micros(tx.now))
	}
	q.between("l.created_at", f.From, f.To)
	return paymentLinkColumns.rows(ctx, tx.Tx, "select payment links", paymentLinkFrom+` WHERE l.account_id = $1
		AND l.number < $2`+q.text+` ORDER BY l.number DESC LIMIT $3`, q.args...)
}

package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// ByID returns any account's event with the state of its delivery, or ErrNotFound.
func (tx Deliveries) ByID(ctx context.Context, id bursar.ID) (Delivery, error) {
	return deliveryColumns.one(ctx, tx.Tx, "read delivery", `FROM events WHERE id = $1`, id)
}

// DeliveryFilter says which deliveries to list; what is zero does not matter.
type DeliveryFilter struct {
	Account bursar.ID
	Status  string
	Since   time.Time // of the event
}

// Find returns the events that fit, newest first.
func (tx Deliveries) Find(ctx context.Context, f DeliveryFilter, page Page) ([]Delivery, error) {
	query := deliveryColumns.query + `FROM events WHERE number < $1 AND created_at >= $2`
	args := []any{page.bound(), micros(f.Since), page.Limit}
	if !f.Account.IsZero() {
		query, args = query+` AND account_id = $4`, append(args, f.Account)
	}
	if f.Status != "" {
		query, args = query+` AND status = `+list(1, len(args)), append(args, f.Status)
	}
	return rows(ctx, tx.Tx, "list deliveries", deliveryColumns.scan, query+` ORDER BY number DESC LIMIT $3`, args...)
}

// EnableAll allows a URL that answered 410 Gone again for every account, or for one, and returns for which it was
// disabled.
func (tx WebhookURLs) EnableAll(ctx context.Context, account bursar.ID, url string) ([]bursar.ID, error) {
	return rows(ctx, tx.Tx, "enable URL", scanOne[bursar.ID],
		`DELETE FROM dead_urls WHERE url = $1 AND (account_id = $2 OR $3) RETURNING account_id`,
		url, account, account.IsZero())
}

// Waiting is what an account's receiver at a URL was not sent because it had answered 410 Gone.
func (tx WebhookURLs) Waiting(ctx context.Context, account bursar.ID, url string) (Queue, error) {
	return tx.queue(ctx, "count events held back", `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM events
		WHERE account_id = $1 AND url = $2 AND status = 'disabled'`, account, url)
}

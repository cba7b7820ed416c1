package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// EventFilter selects an account's deliveries. What is left zero does not restrict.
type EventFilter struct {
	Status string // one of the delivery states
	Kind   bursar.EventKind
	From   time.Time // recorded at or after
	To     time.Time // recorded before
}

// deliveriesOnce is how many events one page looks at for a kind or a period, which no index has.
const deliveriesOnce = 20_000

// Select returns an account's deliveries that a filter selects, newest first. It looks at a bounded number of events:
// where these have no whole page, next is the number from which on another page continues; 0 at the end.
func (tx Deliveries) Select(ctx context.Context, account bursar.ID, f EventFilter, page Page) (list []Delivery,
	next int64, err error) {
	of := `FROM events WHERE account_id = $1 AND number < $2`
	if f.Status != "" { // the text names a partial index
		of += fmt.Sprintf(` AND status = '%s'`, f.Status)
	}
	look := page.Limit
	if f.Kind != "" || !f.From.IsZero() || !f.To.IsZero() {
		look = max(look, deliveriesOnce)
	}
	q := condition{args: []any{account, page.bound(), look, page.Limit}}
	if f.Kind != "" {
		q.and(`kind = $?`, string(f.Kind))
	}
	q.between("created_at", f.From, f.To)
	list, err = deliveryColumns.rows(ctx, tx.Tx, "select deliveries", `FROM (SELECT * `+of+`
		ORDER BY number DESC LIMIT $3) AS e WHERE TRUE`+q.text+` ORDER BY number DESC LIMIT $4`, q.args...)
	if err != nil || len(list) >= page.Limit || look == page.Limit {
		return list, 0, err
	}
	err = tx.row(ctx, "read where deliveries continue", `SELECT number `+of+` ORDER BY number DESC LIMIT 1 OFFSET $3`,
		[]any{account, page.bound(), look - 1}, &next)
	if errors.Is(err, ErrNotFound) {
		next, err = 0, nil
	}
	return list, next, err
}

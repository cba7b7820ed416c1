package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// todaysWebhook is where an event would go if it were recorded now: the webhook of its deposit's wallet or charge, or
// the account's for a withdrawal and for a deposit without a wallet. A receiver that moved gets what the old address
// has missed. A trial goes where it was meant to go.
const todaysWebhook = `CASE
	WHEN events.kind = 'withdrawal' THEN COALESCE((SELECT NULLIF(` + accountWebhook + `, '') FROM withdrawals x
		JOIN accounts a ON a.id = x.account_id
		WHERE x.id = events.subject), events.url)
	WHEN events.kind = 'test' THEN events.url
	ELSE COALESCE((SELECT ` + effectiveWebhook + ` ` + depositFrom + ` WHERE d.id = events.subject),
		(SELECT NULLIF(` + accountWebhook + `, '') FROM deposits x JOIN accounts a ON a.id = x.account_id
		WHERE x.id = events.subject AND x.purpose = 'account'), events.url) END`

// Redelivery says which of an account's events are to be sent again, oldest first.
type Redelivery struct {
	Account    bursar.ID
	Since      time.Time // of their creation
	FailedOnly bool      // only those that were given up, or whose URL answered 410 Gone
	After      int64     // only those with a higher number
	Limit      int
}

// which returns the condition of the events that are asked for and have a number up to $3, with its arguments.
func (r Redelivery) which(upTo int64) (string, []any) {
	text := `account_id = $1 AND number > $2 AND number <= $3 AND created_at >= $4`
	if r.FailedOnly {
		text += ` AND status IN ('failed', 'disabled')`
	}
	return text, []any{r.Account, r.After, upTo, micros(r.Since)}
}

// RedeliverSome makes up to r.Limit events due again, from the start of the schedule, each to the webhook that is set
// for it now; one that has none, or whose webhook answered 410 Gone, stays as it is. It returns how many are due, and
// the number of the last one that was looked at: 0 when none is left.
func (tx Deliveries) RedeliverSome(ctx context.Context, r Redelivery) (due, last int64, err error) {
	which, args := r.which(Page{}.bound())
	err = tx.row(ctx, "redeliver",
		`SELECT COALESCE(MAX(number), 0) FROM (SELECT number FROM events WHERE `+which+` ORDER BY number LIMIT $5) AS step`,
		append(args, r.Limit), &last)
	if err != nil || last == 0 {
		return 0, 0, err
	}
	due, err = tx.redeliver(ctx, r, last)
	return due, last, err
}

// Redeliver is RedeliverSome for one event, and reports whether it is due again; another account's is ErrNotFound.
func (tx Deliveries) Redeliver(ctx context.Context, account, id bursar.ID) (bool, error) {
	var number int64
	err := tx.row(ctx, "redeliver",
		`SELECT number FROM events WHERE id = $1 AND account_id = $2`, []any{id, account}, &number)
	if err != nil {
		return false, err
	}
	due, err := tx.redeliver(ctx, Redelivery{Account: account, After: number - 1}, number)
	return due > 0, err
}

func (tx *Tx) redeliver(ctx context.Context, r Redelivery, upTo int64) (int64, error) {
	which, args := r.which(upTo)
	return tx.exec(ctx, "redeliver",
		`WITH again AS (SELECT events.number, `+todaysWebhook+` AS url FROM events WHERE `+which+`)
		UPDATE events SET status = 'pending', next_at = $5, tries = 0, url = again.url FROM again
		WHERE events.number = again.number AND again.url <> ''
			AND NOT EXISTS (SELECT 1 FROM dead_urls u WHERE u.account_id = $1 AND u.url = again.url)`,
		append(args, micros(tx.now))...)
}

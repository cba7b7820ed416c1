package store

import (
	"context"
	"time"
)

// movedAfter is for how long a receiver that was set when an event was recorded gets its first attempt, whatever was
// set since: looking it up again for each event would cost a look-up for each deposit.
const movedAfter = time.Minute

// Moved makes those of some due events go to the webhook that is set for them now that were tried already, or have
// waited for their first attempt: a receiver that was replaced, perhaps because somebody else had it, hears no more of
// money.
// Where none is set any more, or the new one answered 410 Gone, an event keeps its receiver. It returns the numbers of
// those that have another one from now on: they stay due, and what an attempt at the old one comes to yet, made by a
// process that was taken for dead, decides nothing about them any more.
func (tx Deliveries) Moved(ctx context.Context, due []Delivery) ([]int64, error) {
	var again []int64
	for _, d := range due {
		if d.Tries > 0 || tx.now.Sub(d.CreatedAt) > movedAfter {
			again = append(again, d.Number)
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	which, args := tx.numbers(again)
	return rows(ctx, tx.Tx, "move deliveries", func(s scanner) (number int64, err error) {
		err = s.Scan(&number)
		return number, err
	}, `WITH today AS (SELECT events.number, events.account_id, `+todaysWebhook+` AS url FROM events
			WHERE number IN (`+which+`))
		UPDATE events SET url = today.url, next_at = events.next_at - 1 FROM today
		WHERE events.number = today.number AND today.url <> '' AND today.url <> events.url
			AND NOT EXISTS (SELECT 1 FROM dead_urls u WHERE u.account_id = today.account_id AND u.url = today.url)
		RETURNING events.number`, args...)
}

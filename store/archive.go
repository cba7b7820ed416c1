package store

import (
	"context"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Delivered is a page of the events that were delivered, in the order of their numbers.
type Delivered struct {
	Events   []Delivery
	Attempts map[int64][]Attempt // of each event by its number, the oldest first
	Last     int64               // the number up to which events were looked at
	More     bool                // older ones than asked for may follow
}

// DeliveredBefore returns events with a number above one that were made before a time and are delivered, among the next
// so many events. The newest event of all is never among them: on SQLite its number would be given out again.
func (tx Deliveries) DeliveredBefore(ctx context.Context, before time.Time, after int64, limit int) (d Delivered,
	err error) {
	list, err := deliveryColumns.rows(ctx, tx.Tx, "list old events", `FROM events
		WHERE number > $1 AND number < (SELECT MAX(number) FROM events) ORDER BY number LIMIT $2`, after, limit)
	if err != nil {
		return d, err
	}
	d.Last, d.More = after, len(list) == limit
	var numbers []int64
	for _, e := range list {
		d.Last = e.Number
		if e.CreatedAt.After(before.Add(clocksApart)) {
			d.More = false // the numbers that follow are younger still
			break
		}
		if e.Status == DeliveryDelivered && e.CreatedAt.Before(before) {
			d.Events, numbers = append(d.Events, e), append(numbers, e.Number)
		}
	}
	if len(numbers) > 0 {
		d.Attempts, err = tx.AttemptsOf(ctx, numbers)
	}
	return d, err
}

// DeliveredEvent names an event as it was when it was read: Attempts counts what came to it since.
type DeliveredEvent struct {
	Number   int64
	ID       bursar.ID
	Attempts int64
}

// RemoveDelivered removes events with their attempts, and returns how many. It leaves out those that have changed: one
// that is not there any more, that was made due again, or that had another attempt since.
func (tx Deliveries) RemoveDelivered(ctx context.Context, events []DeliveredEvent) (removed int64, err error) {
	for chunk := range parts(tx.Tx, events) {
		numbers := make([]int64, len(chunk))
		for i, e := range chunk {
			numbers[i] = e.Number
		}
		those, args := among(tx.Tx, "number", numbers, DeliveryDelivered)
		found, err := rows(ctx, tx.Tx, "lock old events", func(s scanner) (e DeliveredEvent, err error) {
			return e, s.Scan(&e.Number, &e.ID, &e.Attempts)
		}, `SELECT number, id, attempts FROM events WHERE status = $1 AND `+those+
			` AND number < (SELECT MAX(number) FROM events) ORDER BY number`+tx.forUpdate(), args...)
		if err != nil {
			return removed, err
		}
		var same []int64
		for _, e := range found {
			if slices.Contains(chunk, e) {
				same = append(same, e.Number)
			}
		}
		n, err := tx.removeEvents(ctx, same)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (tx Deliveries) removeEvents(ctx context.Context, numbers []int64) (int64, error) {
	if len(numbers) == 0 {
		return 0, nil
	}
	those, args := among(tx.Tx, "event", numbers)
	if _, err := tx.exec(ctx, "remove attempts", `DELETE FROM attempts WHERE `+those, args...); err != nil {
		return 0, err
	}
	those, args = among(tx.Tx, "number", numbers)
	if _, err := tx.exec(ctx, "move the start of feeds", `INSERT INTO feed_starts(account_id, number)
		SELECT account_id, MAX(number) FROM events WHERE `+those+` GROUP BY account_id
		ON CONFLICT (account_id) DO UPDATE SET number = excluded.number WHERE excluded.number > feed_starts.number`,
		args...); err != nil {
		return 0, err
	}
	return tx.exec(ctx, "remove events", `DELETE FROM events WHERE `+those, args...)
}

package store

import (
	"context"
	"strings"
)

// updateEvents writes outcomes into their events, for as long as the events are as they were leased: set holds the
// assignments, which read an outcome as the row o. PostgreSQL takes all in one statement, whose text is the same for
// any number of them; on SQLite a statement that is prepared once and run again and again is faster.
func (tx *Tx) updateEvents(ctx context.Context, outcomes []Outcome, what, set string) error {
	if len(outcomes) == 0 {
		return nil
	}
	if tx.postgres {
		return tx.updateTogether(ctx, outcomes, what, set)
	}
	byNumber := strings.NewReplacer(
		"o.number", "$1",
		"o.lease", "$2",
		"o.next_at", "$3",
		"o.code", "$4",
		"o.delivered_at", "$5",
		"o.tries", "$6",
		"o.status", "$7",
		"o.error", "$8",
	)
	var args []any
	for _, o := range outcomes {
		args = append(args,
			o.Event,
			o.Lease,
			micros(o.NextAt),
			o.Code,
			tx.deliveredAt(o),
			o.Tries,
			o.Status,
			o.Error,
		)
	}
	return tx.repeat(ctx, what, byNumber.Replace(`UPDATE events SET `+set+` WHERE `+asLeased), args, 8)
}

// asLeased is written so that no index over what is pending can serve it: they are to be found by their numbers.
const asLeased = `events.number = o.number AND events.attempts = o.lease AND events.status IN ('pending', '')`

// byIndex makes PostgreSQL work through the queue by its indexes, for the rest of the transaction. By its statistics,
// which are from quieter times, next to nothing is pending: it would read and sort the whole backlog for each batch.
func (tx *Tx) byIndex(ctx context.Context) error {
	if !tx.postgres {
		return nil
	}
	return tx.later(ctx, deferred{
		what: "plan by index",
		query: `SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
			set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true),
			set_config('enable_mergejoin', 'off', true)`,
	})
}

func (tx *Tx) updateTogether(ctx context.Context, outcomes []Outcome, what, set string) error {
	if err := tx.byIndex(ctx); err != nil {
		return err
	}
	var numbers [6][]int64
	var texts [2][]string
	for _, o := range outcomes {
		for i, n := range [...]int64{o.Event, o.Lease, micros(o.NextAt), o.Code, tx.deliveredAt(o), o.Tries} {
			numbers[i] = append(numbers[i], n)
		}
		texts[0], texts[1] = append(texts[0], o.Status), append(texts[1], o.Error)
	}
	return tx.later(ctx, deferred{
		what: what,
		query: `UPDATE events SET ` + set + ` FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
			$5::bigint[], $6::bigint[], $7::text[], $8::text[]) AS o(number, lease, next_at, code, delivered_at, tries,
			status, error) WHERE ` + asLeased,
		args: []any{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], texts[0], texts[1]},
	})
}

func (tx *Tx) deliveredAt(o Outcome) int64 {
	if o.Status == DeliveryDelivered {
		return micros(tx.now)
	}
	return 0
}

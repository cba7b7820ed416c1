package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Outcome is what an attempt came to: the delivery's new state and, while it is pending, when to try again. Its
// Attempt's number is not used.
type Outcome struct {
	Attempt
	Event  int64     // the event's number
	Due    time.Time // Delivery.NextAt as it was when the event was leased
	Status string
	Tries  int64 // Delivery.Tries from now on
	NextAt time.Time
}

// RecordAttempts notes attempts, of different events, and what they came to. One whose event was delivered, made due
// again or disabled meanwhile changes nothing but the list of attempts: so of a worker that was taken for dead, and of
// one beside which somebody asked for the event again. Two outcomes of one event are refused with all others: the
// database would choose between them.
func (tx Deliveries) RecordAttempts(ctx context.Context, outcomes []Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	seen := make(map[int64]bool, len(outcomes))
	for _, o := range outcomes {
		if seen[o.Event] {
			return fmt.Errorf("record attempts: event %d has two outcomes", o.Event)
		}
		seen[o.Event] = true
	}
	if tx.postgres {
		return tx.recordAllAttempts(ctx, outcomes)
	}
	return tx.recordEach(ctx, outcomes)
}

// recordEach runs prepared statements for each outcome, which on SQLite is faster than one for all.
func (tx *Tx) recordEach(ctx context.Context, outcomes []Outcome) error {
	var updates, inserts []any
	numbers := make([]int64, len(outcomes))
	for i, o := range outcomes {
		numbers[i] = o.Event
		updates = append(updates, o.Event, micros(o.Due), micros(o.NextAt), o.Code, tx.deliveredAt(o), o.Tries, o.Status,
			o.Error, micros(o.At), o.Duration.Microseconds())
	}
	byNumber := strings.NewReplacer("o.number", "$1", "o.due", "$2", "o.next_at", "$3", "o.code", "$4", "o.delivered_at",
		"$5", "o.tries", "$6", "o.status", "$7", "o.error", "$8", "o.at", "$9", "o.duration", "$10")
	err := tx.repeat(ctx, "record attempts", byNumber.Replace(`UPDATE events SET `+outcome+` WHERE number = o.number`),
		updates, 10)
	if err != nil {
		return err
	}
	among, args := tx.numbers(numbers)
	rest, err := rows(ctx, tx, "list attempts with rows", scanOne[int64],
		`SELECT number FROM events WHERE number IN (`+among+`) AND NOT (`+ownAttempt+`)`, args...)
	if err != nil || len(rest) == 0 {
		return err
	}
	apart := make(map[int64]bool, len(rest))
	for _, n := range rest {
		apart[n] = true
	}
	for _, o := range outcomes {
		if apart[o.Event] {
			inserts = append(inserts, o.Event, micros(o.At), o.Duration.Microseconds(), o.Code, o.Error)
		}
	}
	return tx.repeat(ctx, "insert attempts", `INSERT INTO attempts(event, attempt, at, duration, code, error)
		SELECT number, attempts, $2, $3, $4, $5 FROM events WHERE number = $1`, inserts, 5)
}

// An outcome applies to an event that is as it was leased: whatever changes what is to be delivered changes when.
const asLeased = `events.status = 'pending' AND events.next_at = o.due`

// ownAttempt is the condition that the attempt which was just recorded is kept in the event's own row.
const ownAttempt = `events.attempts = 1 AND events.first_at > 0`

// outcome are the assignments of an outcome, which is the row o.
var outcome = `attempts = events.attempts + 1, ` + strings.Join([]string{
	assign("status", asLeased, "o.status"),
	assign("next_at", asLeased, "o.next_at"),
	assign("last_code", asLeased, "o.code"),
	assign("last_error", asLeased, "o.error"),
	assign("delivered_at", asLeased, "o.delivered_at"),
	assign("tries", asLeased, "o.tries"),
	assign("first_at", deliveredAtOnce, "o.at"),
	assign("first_duration", deliveredAtOnce, "o.duration"),
	assign("first_code", deliveredAtOnce, "o.code"),
}, ", ")

const deliveredAtOnce = asLeased + ` AND events.attempts = 0 AND o.status = 'delivered'`

func assign(column, when, is string) string {
	return column + ` = CASE WHEN ` + when + ` THEN ` + is + ` ELSE events.` + column + ` END`
}

// byIndex makes PostgreSQL work through the queue by its indexes, for the rest of the transaction. By its statistics,
// which are from quieter times, next to nothing is pending: it would read and sort the whole backlog for each batch.
func (tx *Tx) byIndex(ctx context.Context) error {
	if !tx.postgres || tx.indexed {
		return nil
	}
	tx.indexed = true
	return tx.later(ctx, pipelined{
		what: "plan by index",
		query: `SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
			set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true),
			set_config('enable_mergejoin', 'off', true)`,
	})
}

// recordAllAttempts takes all in one statement, whose text is the same for any number of them.
//
// That the events are among those with outcomes is said twice. Where PostgreSQL believes that there are next to no
// events, as after it looked while a backlog was being written, it would go through all of them by the index and join
// the outcomes to each; with a condition of its own the index gives it these.
func (tx *Tx) recordAllAttempts(ctx context.Context, outcomes []Outcome) error {
	if err := tx.byIndex(ctx); err != nil {
		return err
	}
	var numbers [8][]int64
	var texts [2][]string
	for _, o := range outcomes {
		for i, n := range [...]int64{o.Event, micros(o.Due), micros(o.NextAt), o.Code, tx.deliveredAt(o), o.Tries,
			micros(o.At), o.Duration.Microseconds()} {
			numbers[i] = append(numbers[i], n)
		}
		texts[0], texts[1] = append(texts[0], o.Status), append(texts[1], o.Error)
	}
	return tx.later(ctx, pipelined{
		what: "record attempts",
		query: `WITH recorded AS (UPDATE events SET ` + outcome + ` FROM unnest($1::bigint[], $2::bigint[], $3::bigint[],
			$4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[]) AS o(number, due,
			next_at, code, delivered_at, tries, at, duration, status, error)
			WHERE events.number = o.number AND events.number = ANY ($1::bigint[])
			RETURNING o.number, events.attempts, o.at, o.duration, o.code, o.error, ` + ownAttempt + ` AS own)
			INSERT INTO attempts(event, attempt, at, duration, code, error)
			SELECT number, attempts, at, duration, code, error FROM recorded WHERE NOT own`,
		args: []any{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7], texts[0],
			texts[1]},
	})
}

func (tx *Tx) deliveredAt(o Outcome) int64 {
	if o.Status == DeliveryDelivered {
		return micros(tx.now)
	}
	return 0
}

package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// record records an attempt of an event as it is now.
func (q *queue) record(id bursar.ID, status string, a store.Attempt) {
	q.Helper()
	d := q.read(id)
	q.do(func(tx *store.Tx) error {
		return tx.Deliveries().RecordAttempts(ctx, []store.Outcome{{Event: d.Number, Due: d.NextAt, Status: status,
			NextAt: tx.Now().Add(time.Minute), Tries: d.Tries + 1, Attempt: a}})
	})
}

// listed reads the attempts of an event, and how many rows of their own they have.
func (q *queue) listed(id bursar.ID) (list []store.Attempt, rows int) {
	q.Helper()
	d := q.read(id)
	q.do(func(tx *store.Tx) (err error) {
		if list, err = tx.Deliveries().Attempts(ctx, d.Number); err != nil {
			return err
		}
		return tx.Ask(ctx, &rows, fmt.Sprintf(`SELECT COUNT(*) FROM attempts WHERE event = %d`, d.Number))
	})
	return list, rows
}

// An event that is delivered at once needs no row for its attempt, and shows it like any other.
func TestTheAttemptOfAnEventThatIsDeliveredAtOnceIsKeptWithIt(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		good := store.Attempt{At: at, Duration: 40 * time.Millisecond, Code: 204}
		bad := store.Attempt{At: at.Add(time.Hour), Duration: time.Second, Code: 500, Error: "no"}
		numbered := func(list ...store.Attempt) []store.Attempt {
			for i := range list {
				list[i].Number = int64(i + 1)
			}
			return list
		}
		check := func(id bursar.ID, rows int, want ...store.Attempt) {
			q.Helper()
			list, got := q.listed(id)
			for i := range list {
				list[i].At = list[i].At.UTC()
			}
			if !slices.Equal(list, numbered(want...)) || got != rows {
				q.Errorf("attempts are %+v in %d rows; want %+v in %d", list, got, want, rows)
			}
		}
		again := func(id bursar.ID) {
			q.Helper()
			q.do(func(tx *store.Tx) error { _, err := tx.Deliveries().Redeliver(ctx, shop, id); return err })
		}
		id := q.event(bursar.EventTest, "https://r.example", 0)
		q.record(id, store.DeliveryDelivered, good)
		check(id, 0, good)
		again(id)
		q.record(id, store.DeliveryPending, bad)
		check(id, 1, good, bad)
		again(id)
		q.record(id, store.DeliveryDelivered, good)
		check(id, 2, good, bad, good)

		failed := q.event(bursar.EventTest, "https://r.example", 0)
		q.record(failed, store.DeliveryPending, bad)
		q.record(failed, store.DeliveryDelivered, good)
		check(failed, 2, bad, good)

		late := q.event(bursar.EventTest, "https://r.example", 0)
		before := q.read(late)
		q.record(late, store.DeliveryPending, bad)
		q.do(func(tx *store.Tx) error { // of a worker that was taken for dead
			return tx.Deliveries().RecordAttempts(ctx, []store.Outcome{{Event: before.Number, Due: before.NextAt,
				Status: store.DeliveryDelivered, Attempt: good}})
		})
		check(late, 2, bad, good)
		if d := q.read(late); d.Status != store.DeliveryPending || d.LastCode != 500 || d.Attempts != 2 {
			q.Errorf("a late outcome made it %+v", d)
		}
	})
}

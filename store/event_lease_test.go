package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func TestWhatIsReleasedWasNeverTaken(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		id := q.event(bursar.EventDeposit, "https://old.example", 0)
		lease := func() []store.Delivery {
			q.Helper()
			var list []store.Delivery
			q.do(func(tx *store.Tx) (err error) {
				list, err = tx.Deliveries().Lease(ctx, tx.Now().Add(time.Hour), 10)
				return err
			})
			return list
		}
		release := func(number, lease int64) {
			q.Helper()
			q.do(func(tx *store.Tx) error {
				return tx.Deliveries().Release(ctx, []store.LeasedEvent{{Event: number, Lease: lease, NextAt: tx.Now()}})
			})
		}
		first := lease()
		release(first[0].Number, first[0].Attempts+1) // by somebody who lost it
		if len(lease()) != 0 {
			q.Fatal("another's lease was released")
		}
		release(first[0].Number, first[0].Attempts)
		if d := q.read(id); d.Attempts != 0 || d.Status != store.DeliveryPending {
			q.Errorf("released it is %+v", d)
		}
		if again := lease(); len(again) != 1 || again[0].Attempts != 1 {
			q.Errorf("leased again: %+v", again)
		}
	})
}

// A backlog that PostgreSQL's statistics do not know of is not read through for each batch.
func TestABacklogIsWorkedOffByIndex(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		if !q.Postgres() {
			q.Skip("SQLite has no statistics to go by")
		}
		const backlog, batch = 3000, 50
		q.do(func(tx *store.Tx) error {
			for n := range backlog {
				e := bursar.Event{
					ID:        bursar.ID{6, byte(n >> 8), byte(n)},
					AccountID: shop,
					Kind:      bursar.EventDeposit,
					Subject:   shop,
					URL:       fmt.Sprint("https://r.example/", n),
					Body:      []byte("{}"),
					CreatedAt: tx.Now(),
				}
				if err := tx.Events().Insert(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		q.do(func(tx *store.Tx) error {
			due, err := tx.Deliveries().Lease(ctx, tx.Now().Add(time.Hour), batch)
			if err != nil || len(due) != batch {
				return fmt.Errorf("%d are due, %w", len(due), err)
			}
			var outcomes []store.Outcome
			for _, d := range due {
				outcomes = append(outcomes, store.Outcome{
					Event:   d.Number,
					Lease:   d.Attempts,
					Status:  store.DeliveryDelivered,
					Attempt: store.Attempt{Number: d.Attempts},
				})
			}
			if err := tx.Deliveries().RecordAttempts(ctx, outcomes); err != nil {
				return err
			}
			var read int
			err = tx.Ask(ctx, &read, `SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
				WHERE relname = 'events'`)
			if read > 10*batch {
				q.Errorf("%d rows were read for a batch of %d", read, batch)
			}
			return err
		})
	})
}

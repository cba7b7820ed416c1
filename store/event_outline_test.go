package store_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Of events that were chosen by their outlines, only those are read that are still due, whole and in their order.
func TestOutlinedEventsAreReadWholeWhereTheyAreStillDue(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		for n := range 4 {
			q.event(bursar.EventDeposit, fmt.Sprintf("https://r-%d.example", n), 0)
		}
		q.do(func(tx *store.Tx) error {
			whole, err := tx.Deliveries().Due(ctx, nil, 10)
			if err != nil || len(whole) != 4 {
				return fmt.Errorf("%d are due, %w; want 4", len(whole), err)
			}
			outlines, err := tx.Deliveries().DueOutlined(ctx, []int64{whole[3].Number}, 10)
			if err != nil || len(outlines) != 3 {
				return fmt.Errorf("%d that are not leased are due, %w; want 3", len(outlines), err)
			}
			for i, o := range outlines {
				want := store.Delivery{Tries: whole[i].Tries, NextAt: whole[i].NextAt}
				want.Number, want.AccountID, want.Kind, want.URL = whole[i].Number, whole[i].AccountID, whole[i].Kind, whole[i].URL
				if !reflect.DeepEqual(o, want) {
					q.Errorf("got the outline %+v, want %+v", o, want)
				}
			}
			err = tx.Deliveries().RecordAttempts(ctx, []store.Outcome{
				{Event: whole[0].Number, Due: whole[0].NextAt, Status: store.DeliveryDelivered, Tries: 1},
				{Event: whole[2].Number, Due: whole[2].NextAt, Status: store.DeliveryPending, Tries: 1,
					NextAt: tx.Now().Add(time.Hour)},
			})
			if err != nil {
				return err
			}
			still, err := tx.Deliveries().Whole(ctx, append(outlines, whole[3]))
			if want := []store.Delivery{whole[1], whole[3]}; err != nil || !reflect.DeepEqual(still, want) {
				return fmt.Errorf("got %+v, %w; want %+v", still, err, want)
			}
			return nil
		})
	})
}

// Reading a few of many events that are due does not pass over the others again.
func TestWhatIsTakenOfABacklogIsReadByItself(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		if !q.Postgres() {
			q.Skip("SQLite does not say how many rows it reads")
		}
		const due, taken = 2000, 20
		q.do(func(tx *store.Tx) error {
			var all []bursar.Event
			for n := range due {
				all = append(all, bursar.Event{ID: bursar.ID{6, byte(n >> 8), byte(n)}, AccountID: shop, Subject: shop,
					Kind: bursar.EventDeposit, URL: "https://dead.example/", Body: []byte("{}"), CreatedAt: tx.Now()})
			}
			_, err := tx.Events().RecordAll(ctx, all)
			return err
		})
		q.do(func(tx *store.Tx) error {
			outlines, err := tx.Deliveries().DueOutlined(ctx, nil, due)
			if err != nil || len(outlines) != due {
				return fmt.Errorf("%d are due, %w; want %d", len(outlines), err, due)
			}
			var before, after int
			const visited = `SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'events'`
			if err := tx.Ask(ctx, &before, visited); err != nil {
				return err
			}
			whole, err := tx.Deliveries().Whole(ctx, outlines[due-taken:])
			if err != nil || len(whole) != taken {
				return fmt.Errorf("%d were read whole, %w; want %d", len(whole), err, taken)
			}
			err = tx.Ask(ctx, &after, visited)
			if read := after - before; read > 2*taken {
				q.Errorf("%d rows were read for %d events, want no more than %d", read, taken, 2*taken)
			}
			return err
		})
	})
}

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A lease whose end is further away than any deliverer makes it was written by a clock that was ahead, and is not
// believed: its events would wait for months.
func TestALeaseOfAClockThatWasAheadIsNotBelieved(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		id := q.event(bursar.EventDeposit, "https://new.example", 0)
		number := q.read(id).Number
		var own, other store.DeliveryLease
		lease := func(lease *store.DeliveryLease, lasts time.Duration) (due int) {
			q.Helper()
			q.do(func(tx *store.Tx) error {
				leased, err := tx.Deliveries().LeasedByOthers(ctx, *lease)
				if err != nil {
					return err
				}
				list, err := tx.Deliveries().Due(ctx, leased, 10)
				if err != nil {
					return err
				}
				due = len(list)
				*lease, err = tx.Deliveries().KeepLease(ctx, *lease, tx.Now().Add(lasts), []int64{number})
				return err
			})
			return due
		}
		lease(&other, 100*24*time.Hour)
		q.do(func(tx *store.Tx) error {
			if _, any, err := tx.Deliveries().NextDue(ctx); err != nil || !any {
				return fmt.Errorf("the next event is due: %v, %w; want one", any, err)
			}
			return nil
		})
		if due := lease(&own, time.Minute); due != 1 {
			t.Errorf("got %d due events beside a lease of months, want 1", due)
		}
		if due := lease(&other, time.Minute); due != 0 {
			t.Errorf("got %d due events for anyone who comes back beside a lease of a minute, want none", due)
		}
	})
}

// What a lease looks at by accounts and receivers costs it a row of each and those that it takes, whatever waits beside
// them: due or not, of the same receiver, account or another one.
func TestALookByReceiversReadsNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		const backlog, receivers = 2000, 40
		other := bursar.ID{7}
		q.do(func(tx *store.Tx) error {
			var all []bursar.Event
			for n := range 2 * backlog {
				e := bursar.Event{ID: bursar.ID{6, byte(n >> 8), byte(n)}, AccountID: shop, Kind: bursar.EventDeposit,
					Subject: shop, URL: fmt.Sprintf("https://r-%d.example/", n%receivers), Body: []byte("{}"), CreatedAt: tx.Now()}
				if n >= backlog {
					e.AccountID, e.URL = other, "https://one.example/"
				}
				all = append(all, e)
			}
			_, err := tx.Events().RecordAll(ctx, all)
			return err
		})
		q.do(func(tx *store.Tx) error { // half of each receiver's wait for their next attempt
			due, err := tx.Deliveries().Due(ctx, nil, 2*backlog)
			var later []store.Outcome
			for i, d := range due {
				if i/receivers%2 == 0 {
					later = append(later, store.Outcome{Event: d.Number, Due: d.NextAt, Status: store.DeliveryPending, Tries: 1,
						NextAt: tx.Now().Add(time.Hour)})
				}
			}
			if err != nil {
				return err
			}
			return tx.Deliveries().RecordAttempts(ctx, later)
		})
		look := func(tx *store.Tx) (taken int, err error) {
			accounts, err := tx.Deliveries().Accounts(ctx, bursar.ID{}, 10)
			if err != nil || len(accounts) != 2 {
				return 0, fmt.Errorf("accounts are %v, %w", accounts, err)
			}
			waiting, err := tx.Deliveries().Receivers(ctx, []store.Receiver{{Account: shop}, {Account: other}}, 20)
			if err != nil || len(waiting) != 21 {
				return 0, fmt.Errorf("%d receivers wait, %w; want 20 and 1", len(waiting), err)
			}
			var shares []store.Share
			for _, r := range waiting {
				shares = append(shares, store.Share{Receiver: r.Receiver, Limit: 3})
			}
			due, err := tx.Deliveries().DueOf(ctx, nil, shares)
			return len(due), err
		}
		if !q.Postgres() {
			plans := storetest.NewPlans(t, q.DB)
			if err := plans.DB.Do(t.Context(), func(tx *store.Tx) error { _, err := look(tx); return err }); err != nil {
				t.Fatal(err)
			}
			if n := plans.Name("a look by receivers"); n != 3 {
				t.Errorf("got %d different statements, want one for accounts, receivers and events each", n)
			}
			plans.CheckOnSQLite("events", "events_receiver")
			return
		}
		q.do(func(tx *store.Tx) error {
			var before, after int
			const visited = `SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'events'`
			if err := tx.Ask(ctx, &before, visited); err != nil {
				return err
			}
			taken, err := look(tx)
			if err != nil || taken != 21*3 {
				return fmt.Errorf("%d are due, %w; want 3 of each of 21 receivers", taken, err)
			}
			err = tx.Ask(ctx, &after, visited)
			if read := after - before; read > 3*taken {
				q.Errorf("%d rows were read to take %d of 21 receivers, want no more than %d", read, taken, 3*taken)
			}
			return err
		})
	})
}

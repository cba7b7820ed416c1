package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What one deliverer has leased no other one takes, until it gives the events back, or dies.
func TestALeaseKeepsOthersAway(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		q.event(bursar.EventDeposit, "https://old.example", 0)
		q.event(bursar.EventDeposit, "https://new.example", 0)
		var own, other store.DeliveryLease
		var due []store.Delivery
		renew := func(lease *store.DeliveryLease, lasts time.Duration, want int, keep ...int64) {
			q.Helper()
			q.do(func(tx *store.Tx) error {
				leased, err := tx.Deliveries().LeasedByOthers(ctx, *lease)
				if err != nil {
					return err
				}
				if due, err = tx.Deliveries().Due(ctx, leased, 10); err != nil || len(due) != want {
					return fmt.Errorf("%d are due, %w; want %d", len(due), err, want)
				}
				*lease, err = tx.Deliveries().KeepLease(ctx, *lease, tx.Now().Add(lasts), keep)
				return err
			})
		}
		renew(&own, 5*time.Minute, 2)
		first := due[0].Number
		renew(&own, 5*time.Minute, 2, first)
		renew(&other, 5*time.Minute, 1)
		if due[0].Number == first {
			q.Error("another's event is due")
		}
		renew(&own, 5*time.Minute, 2) // it gives the event back
		renew(&other, 0, 2, first, due[1].Number)
		renew(&own, 5*time.Minute, 2) // the other one was over at once
		dead := other
		renew(&own, 5*time.Minute, 2, first)
		renew(&other, 5*time.Minute, 1)
		if other == dead {
			q.Error("a lease that was over goes on")
		}
	})
}

// A backlog is not read through for each batch, whatever the server takes the cost of a read to be, and whatever
// PostgreSQL's statistics say of it: nothing, or that there are next to no rows, as where it looked while they were
// being written.
func TestABacklogIsWorkedOffByIndex(t *testing.T) {
	t.Parallel()
	for name, analyze := range map[string]bool{"never looked at": false, "looked at while it was written": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onQueue(t, func(q *queue) {
				if !q.Postgres() {
					q.Skip("SQLite has no statistics to go by")
				}
				q.do(func(tx *store.Tx) error {
					if err := q.fillBacklog(tx); err != nil || !analyze {
						return err
					}
					_, err := raw(q.T, "pgx", storetest.AsOwner(storetest.URL(q.DB))).ExecContext(ctx, `ANALYZE events`)
					return err
				})
				for _, cost := range []string{"4", "0.1", "1000"} {
					q.do(func(tx *store.Tx) error {
						var set string
						if err := tx.Ask(ctx, &set, `SELECT set_config('random_page_cost', $1, true)`, cost); err != nil {
							return err
						}
						return q.workOff(tx, cost)
					})
				}
			})
		})
	}
}

func (q *queue) fillBacklog(tx *store.Tx) error {
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
}

const backlog = 3000

// workOff delivers one batch, and checks how many rows were read for that.
func (q *queue) workOff(tx *store.Tx, cost string) error {
	const batch = 50
	before, err := tx.RowsRead(ctx, "events")
	if err != nil {
		return err
	}
	due, err := storetest.Lease(ctx, tx, tx.Now().Add(time.Minute), batch)
	if err != nil || len(due) != batch {
		return fmt.Errorf("%d are due, %w", len(due), err)
	}
	leased, err := tx.RowsRead(ctx, "events")
	if err != nil {
		return err
	}
	var outcomes []store.Outcome
	for _, d := range due {
		outcomes = append(outcomes, store.Outcome{
			Event:  d.Number,
			Due:    d.NextAt,
			Status: store.DeliveryDelivered,
		})
	}
	if err := tx.Deliveries().RecordAttempts(ctx, outcomes); err != nil {
		return err
	}
	recorded, err := tx.RowsRead(ctx, "events")
	if read := recorded - before; read > 10*batch {
		q.Errorf("where a random read costs %s, %d rows were read to lease a batch of %d and %d to record its outcomes, "+
			"want at most %d", cost, leased-before, batch, recorded-leased, 10*batch)
	}
	return err
}

// What is due for one receiver is found by its index, whatever is due for others.
func TestWhatIsDueForAReceiverIsFoundBesideABacklog(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		const few = 20
		q.do(func(tx *store.Tx) error {
			var all []bursar.Event
			for n := range backlog + few {
				e := bursar.Event{ID: bursar.ID{6, byte(n >> 8), byte(n)}, AccountID: shop, Kind: bursar.EventDeposit,
					Subject: shop, URL: "https://a.example/down", Body: []byte("{}"), CreatedAt: tx.Now()}
				if n >= backlog {
					e.URL = "https://b.example/" + fmt.Sprint(n%2)
				}
				all = append(all, e)
			}
			_, err := tx.Events().RecordAll(ctx, all)
			return err
		})
		q.do(func(tx *store.Tx) error {
			var before int
			if q.Postgres() {
				var err error
				if before, err = tx.RowsRead(ctx, "events"); err != nil {
					return err
				}
			}
			accounts, err := tx.Deliveries().Accounts(ctx, bursar.ID{}, 10)
			if err != nil || len(accounts) != 1 || accounts[0] != shop {
				return fmt.Errorf("accounts with events are %v, %w", accounts, err)
			}
			if accounts, err = tx.Deliveries().Accounts(ctx, shop, 10); err != nil || len(accounts) != 0 {
				return fmt.Errorf("behind the only account is %v, %w", accounts, err)
			}
			waiting, err := tx.Deliveries().Receivers(ctx, []store.Receiver{{Account: shop}}, 10)
			if err != nil || len(waiting) != 3 {
				return fmt.Errorf("%d receivers, %w", len(waiting), err)
			}
			var receivers []store.Receiver
			for _, r := range waiting {
				if receivers = append(receivers, r.Receiver); !r.Due {
					return fmt.Errorf("%s is not due", r.URL)
				}
			}
			behind, err := tx.Deliveries().Receivers(ctx, receivers[1:2], 10)
			if err != nil || len(behind) != 1 || behind[0].Receiver != receivers[2] {
				return fmt.Errorf("behind the second receiver is %v, %w", behind, err)
			}
			if first, err := tx.Deliveries().Receivers(ctx, []store.Receiver{{Account: shop}}, 2); err != nil ||
				len(first) != 2 {
				return fmt.Errorf("the first two receivers are %v, %w", first, err)
			}
			shares := []store.Share{{Receiver: receivers[0], Limit: 2}, {Receiver: receivers[1], Limit: few},
				{Receiver: receivers[2], Limit: 3}}
			due, err := tx.Deliveries().DueOf(ctx, nil, shares)
			of := map[store.Receiver]int{}
			var leased []int64
			for _, d := range due {
				of[store.ReceiverOf(d.Event)]++
				leased = append(leased, d.Number)
			}
			if err != nil || len(of) != 3 || of[receivers[0]] != 2 || of[receivers[1]] != few/2 || of[receivers[2]] != 3 {
				return fmt.Errorf("due are %v, %w", of, err)
			}
			rest, err := tx.Deliveries().DueOf(ctx, leased, shares[1:])
			if err != nil || len(rest) != 3 {
				return fmt.Errorf("%d are left, %w; want 3", len(rest), err)
			}
			if !q.Postgres() {
				return nil
			}
			read, err := tx.RowsRead(ctx, "events")
			if read -= before; read > backlog/10 {
				q.Errorf("%d rows were read beside a backlog of %d, want at most %d", read, backlog, backlog/10)
			}
			return err
		})
	})
}

// Two outcomes of one event in one batch are refused whole: which of them stands would be up to the database.
func TestTwoOutcomesOfOneEventAreRefused(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		id := q.event(bursar.EventDeposit, "https://new.example", 0)
		before := q.read(id)
		one := store.Outcome{Event: before.Number, Due: before.NextAt, Status: store.DeliveryDelivered, Tries: 1}
		other := one
		other.Status = store.DeliveryPending
		err := q.Do(t.Context(), func(tx *store.Tx) error {
			return tx.Deliveries().RecordAttempts(ctx, []store.Outcome{one, other})
		})
		if err == nil {
			t.Error("two outcomes of one event were recorded, want an error")
		}
		if after := q.read(id); after.Status != before.Status || after.Tries != before.Tries {
			t.Errorf("the event is %s after %d tries, want it as it was", after.Status, after.Tries)
		}
	})
}

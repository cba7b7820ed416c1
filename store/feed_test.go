package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// settled returns up to which event all can be read, as a request reads it.
func (q *queue) settled() (number int64) {
	q.Helper()
	err := q.Read(ctx, func(tx *store.Tx) (err error) {
		number, err = tx.Feed().Settled(ctx)
		return err
	})
	if err != nil {
		q.Fatal(err)
	}
	return number
}

// feed reads a page of the shop's events that are settled.
func (q *queue) feed(after int64, limit int) (page store.FeedPage) {
	q.Helper()
	settled := q.settled()
	err := q.View(ctx, func(tx *store.Tx) (err error) {
		page, err = tx.Feed().Read(ctx, store.FeedQuery{Account: shop, After: after, Settled: settled, Limit: limit})
		return err
	})
	if err != nil {
		q.Fatal(err)
	}
	return page
}

func eventIDs(events []bursar.Event) (ids []bursar.ID) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestAFeedIsReadInParts(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		var ids []bursar.ID
		for range 5 {
			ids = append(ids, q.event(bursar.EventDeposit, "https://old.example", 0))
		}
		first := q.feed(0, 2)
		rest := q.feed(first.Events[1].Number, 10)
		if got := append(eventIDs(first.Events), eventIDs(rest.Events)...); !slices.Equal(got, ids) {
			q.Errorf("read are %v, want %v", got, ids)
		}
		if more := q.feed(rest.Events[2].Number, 10); len(more.Events) != 0 {
			q.Errorf("behind the last are %v, want none", eventIDs(more.Events))
		}
		err := q.Read(ctx, func(tx *store.Tx) error {
			newest, err := tx.Feed().Newest(ctx, []bursar.ID{shop, {7}})
			if len(newest) != 1 || newest[shop] != rest.Events[2].Number {
				q.Errorf("newest are %v, want only %d of the shop", newest, rest.Events[2].Number)
			}
			return err
		})
		if err != nil {
			q.Error(err)
		}
		q.do(func(tx *store.Tx) error {
			if n, err := tx.Feed().NumberOf(ctx, shop, ids[0]); n != first.Events[0].Number || err != nil {
				q.Errorf("the first has number %d, %v, want %d", n, err, first.Events[0].Number)
			}
			if n, err := tx.Feed().NumberOf(ctx, bursar.ID{7}, ids[0]); err == nil {
				q.Errorf("for another account it has number %d, want none", n)
			}
			return nil
		})
	})
}

// A transaction that drew its number first may commit last (PostgreSQL 15, 9.17: sequences are not transactional).
// Anyone who has read the event of the other one has a cursor behind this one, and would never see it.
func TestNoEventAppearsBehindACursor(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		if !q.Postgres() {
			q.Skip("SQLite has one writer: numbers are drawn in the order of the commits")
		}
		e := func(n byte) bursar.Event {
			return bursar.Event{ID: bursar.ID{6, n}, AccountID: shop, Kind: bursar.EventDeposit, Subject: bursar.ID{3},
				URL: "https://old.example", Body: []byte("{}")}
		}
		before := q.event(bursar.EventDeposit, "https://old.example", 0)
		record := func(each bool, list ...bursar.Event) func(tx *store.Tx) error {
			return func(tx *store.Tx) error {
				if !each {
					_, err := tx.Events().RecordAll(ctx, list)
					return err
				}
				for _, e := range list {
					if err := tx.Events().Insert(ctx, e); err != nil {
						return err
					}
				}
				return nil
			}
		}
		for n, each := range []bool{false, true} {
			at, seen := byte(10*n), []bursar.ID(nil)
			q.do(func(tx *store.Tx) error {
				if err := record(each, e(at+1), e(at+2))(tx); err != nil {
					return err
				}
				if _, err := tx.Feed().Settled(ctx); err != nil { // what was given to later is sent
					return err
				}
				q.do(record(each, e(at+3)))
				seen = eventIDs(q.feed(0, 100).Events)
				return nil
			})
			if slices.Contains(seen, bursar.ID{6, at + 3}) || !slices.Contains(seen, before) {
				q.Errorf("while an earlier number is not committed, %v are read, want those before it", seen)
			}
			want := []bursar.ID{{6, at + 1}, {6, at + 2}, {6, at + 3}}
			if got := eventIDs(q.feed(0, 100).Events); !slices.Equal(got[len(got)-3:], want) {
				q.Errorf("the last three are %v, want %v", got, want)
			}
		}
		_ = q.Do(ctx, func(tx *store.Tx) error { // one that gives up holds up nobody
			if err := record(false, e(90))(tx); err != nil {
				return err
			}
			return store.ErrNotFound
		})
		q.do(record(false, e(91)))
		if got := eventIDs(q.feed(0, 100).Events); got[len(got)-1] != (bursar.ID{6, 91}) {
			q.Errorf("behind one that gave up, %v are read, want the last to be %v", got, bursar.ID{6, 91})
		}
	})
}

// What was archived is not left out in silence: the feed says where it begins.
func TestAFeedBeginsBehindWhatIsArchived(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		q.DB = storetest.Open(q.T, storetest.AsOwner(storetest.URL(q.DB))) // the service may remove nothing
		for range 3 {
			q.event(bursar.EventDeposit, "https://old.example", 48*time.Hour)
		}
		q.fail(store.DeliveryDelivered)
		all := q.feed(0, 10)
		if all.Start != 0 || len(all.Events) != 3 {
			q.Fatalf("the feed begins at %d with %d events, want 0 with 3", all.Start, len(all.Events))
		}
		q.do(func(tx *store.Tx) error {
			old, err := tx.Deliveries().DeliveredBefore(ctx, tx.Now().Add(-24*time.Hour), 0, 10)
			if err != nil {
				return err
			}
			var list []store.DeliveredEvent
			for _, e := range old.Events {
				list = append(list, store.DeliveredEvent{Number: e.Number, ID: e.ID, Attempts: e.Attempts})
			}
			_, err = tx.Deliveries().RemoveDelivered(ctx, list)
			return err
		})
		left := q.feed(0, 10)
		if left.Start != all.Events[1].Number || len(left.Events) != 1 || left.Events[0].ID != all.Events[2].ID {
			q.Errorf("the feed begins at %d with %v, want %d with %v", left.Start, eventIDs(left.Events), all.Events[1].Number,
				eventIDs(all.Events[2:]))
		}
	})
}

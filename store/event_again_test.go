package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func TestAnEventThatIsSentAgainGoesToTheWebhookOfToday(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		kinds := []bursar.EventKind{
			bursar.EventDeposit,
			bursar.EventDepositReversed,
			bursar.EventWithdrawal,
			bursar.EventTest,
		}
		var ids []bursar.ID
		for _, kind := range kinds {
			ids = append(ids, q.event(kind, "https://old.example", 0))
		}
		q.fail(store.DeliveryFailed)
		again := func(want ...string) {
			q.Helper()
			q.do(func(tx *store.Tx) error {
				due, _, err := tx.Deliveries().RedeliverSome(ctx, store.Redelivery{Account: shop, Limit: 100})
				if due != int64(len(kinds)) {
					q.Errorf("%d are due", due)
				}
				return err
			})
			for i, id := range ids {
				if d := q.read(id); d.URL != want[i] || d.Tries != 0 || d.Status != store.DeliveryPending {
					q.Errorf("%s goes to %s after %d tries, want %s", kinds[i], d.URL, d.Tries, want[i])
				}
			}
		}
		q.do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhook(ctx, shop, q.wallet, "https://new.example")
			return err
		})
		again("https://new.example", "https://new.example", "https://old.example", "https://old.example")
		q.do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhookRule(ctx, shop, "BTC", "https://all.example")
			return err
		})
		again("https://all.example", "https://all.example", "https://all.example", "https://old.example")
		q.do(func(tx *store.Tx) error {
			_, err := tx.Accounts().SetNotifications(ctx, bursar.Account{ID: shop, Webhook: "https://account.example"})
			return err
		})
		again("https://all.example", "https://all.example", "https://account.example", "https://old.example")
	})
}

// A receiver that was replaced hears no more of what it did not take.
func TestAnEventFollowsItsWebhook(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		waited := q.event(bursar.EventDeposit, "https://old.example", time.Hour)
		fresh := q.event(bursar.EventDeposit, "https://old.example", 0)
		test := q.event(bursar.EventTest, "https://old.example", time.Hour)
		payout := q.event(bursar.EventWithdrawal, "https://old.example", time.Hour)
		moved := func() (numbers int) {
			q.do(func(tx *store.Tx) error {
				due, err := tx.Deliveries().Due(ctx, nil, 100)
				if err != nil || len(due) != 4 {
					q.Fatalf("%d are due, want 4: %v", len(due), err)
				}
				list, err := tx.Deliveries().Moved(ctx, due)
				numbers = len(list)
				return err
			})
			return numbers
		}
		goes := func(want map[bursar.ID]string) {
			q.Helper()
			for id, url := range want {
				if d := q.read(id); d.URL != url || d.Status != store.DeliveryPending {
					q.Errorf("%s goes to %s (%s), want %s", d.Kind, d.URL, d.Status, url)
				}
			}
		}
		if n := moved(); n != 0 {
			q.Errorf("%d moved though nothing is set, want 0", n)
		}
		q.do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhook(ctx, shop, q.wallet, "https://new.example")
			return err
		})
		if n := moved(); n != 1 {
			q.Errorf("%d moved, want the deposit that has waited", n)
		}
		goes(map[bursar.ID]string{waited: "https://new.example", fresh: "https://old.example", test: "https://old.example",
			payout: "https://old.example"})
		q.do(func(tx *store.Tx) error {
			if err := tx.WebhookURLs().Disable(ctx, shop, "https://gone.example"); err != nil {
				return err
			}
			_, err := tx.Wallets().SetWebhook(ctx, shop, q.wallet, "https://gone.example")
			return err
		})
		if n := moved(); n != 0 {
			q.Errorf("%d moved to a receiver that answered 410 Gone, want 0", n)
		}
	})
}

func TestRedeliveryTakesWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		old := q.event(bursar.EventDeposit, "https://old.example", 3*time.Hour)
		failed := q.event(bursar.EventDeposit, "https://old.example", time.Hour)
		q.fail(store.DeliveryFailed)
		var fresh []bursar.ID
		for range 5 {
			fresh = append(fresh, q.event(bursar.EventDeposit, "https://old.example", 0))
		}
		q.fail(store.DeliveryDelivered)
		count := func(failedOnly bool, age time.Duration, limit int) (due int64, steps int) {
			q.Helper()
			r := store.Redelivery{Account: shop, Since: q.Now().Add(-age), FailedOnly: failedOnly, Limit: limit}
			for {
				var n int64
				q.do(func(tx *store.Tx) (err error) {
					n, r.After, err = tx.Deliveries().RedeliverSome(ctx, r)
					return err
				})
				if r.After == 0 {
					return due, steps
				}
				due, steps = due+n, steps+1
			}
		}
		if due, _ := count(true, 2*time.Hour, 100); due != 1 || q.read(failed).Status != store.DeliveryPending ||
			q.read(old).Status != store.DeliveryFailed {
			q.Errorf("%d failed are due", due)
		}
		if due, steps := count(false, time.Minute, 2); due != 5 || steps != 3 ||
			q.read(fresh[4]).Status != store.DeliveryPending {
			q.Errorf("%d of the last minute are due, in %d steps", due, steps)
		}
		if due, _ := count(false, 4*time.Hour, 100); due != 7 {
			q.Errorf("%d of all are due, want 7", due)
		}
		q.do(func(tx *store.Tx) error {
			if _, err := tx.Deliveries().Redeliver(ctx, bursar.ID{7}, old); !errors.Is(err, store.ErrNotFound) {
				q.Errorf("another's: %v", err)
			}
			due, last, err := tx.Deliveries().RedeliverSome(ctx, store.Redelivery{Account: bursar.ID{7}, Limit: 100})
			if due != 0 || last != 0 {
				q.Errorf("another's: %d up to %d", due, last)
			}
			return err
		})
	})
}

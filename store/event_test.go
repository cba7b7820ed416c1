package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

var (
	ctx  = context.Background()
	shop = bursar.ID{1}
)

// queue is a database with an account that has a wallet with a deposit, and events about it.
type queue struct {
	*testing.T
	*store.DB
	wallet bursar.ID
	next   byte
}

func onQueue(t *testing.T, test func(q *queue)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		q := &queue{T: t, DB: db, wallet: bursar.ID{2}}
		q.do(func(tx *store.Tx) error {
			for _, id := range []bursar.ID{shop, {7}} {
				if err := tx.Accounts().Insert(ctx, bursar.Account{ID: id, CreatedAt: tx.Now(), WebhookGeneration: 1}); err != nil {
					return err
				}
			}
			number, err := tx.Wallets().TakeNumbers(ctx, 1)
			if err != nil {
				return err
			}
			w := bursar.Wallet{
				Number:    number,
				ID:        q.wallet,
				AccountID: shop,
				Currency:  "BTC",
				Family:    "bitcoin",
				Address:   bursar.Address{Base: "b"},
				Webhook:   "https://old.example",
				CreatedAt: tx.Now(),
			}
			if err := tx.Wallets().Insert(ctx, []bursar.Wallet{w}); err != nil {
				return err
			}
			d := bursar.Deposit{
				ID:        bursar.ID{3},
				AccountID: shop,
				WalletID:  w.ID,
				Purpose:   bursar.ForWallet,
				Currency:  "BTC",
				Chain:     "bitcoin",
				TxID:      "ab",
				Address:   w.Address,
			}
			if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d, Wallet: number}); err != nil {
				return err
			}
			return tx.Withdrawals().Insert(ctx, "bitcoin", bursar.Withdrawal{
				ID:        bursar.ID{4},
				AccountID: shop,
				Currency:  "BTC",
				Status:    bursar.WithdrawalQueued,
				CreatedAt: tx.Now(),
			})
		})
		test(q)
	})
}

func (q *queue) do(f func(tx *store.Tx) error) {
	q.Helper()
	if err := q.Do(ctx, f); err != nil {
		q.Fatal(err)
	}
}

// event records one about the deposit, or the withdrawal, of a wanted age.
func (q *queue) event(kind bursar.EventKind, url string, age time.Duration) bursar.ID {
	q.Helper()
	q.next++
	e := bursar.Event{
		ID:        bursar.ID{5, q.next},
		AccountID: shop,
		Kind:      kind,
		Subject:   bursar.ID{3},
		URL:       url,
		Body:      []byte("{}"),
	}
	if kind == bursar.EventWithdrawal {
		e.Subject = bursar.ID{4}
	}
	q.do(func(tx *store.Tx) error {
		e.CreatedAt = tx.Now().Add(-age)
		return tx.Events().Insert(ctx, e)
	})
	return e.ID
}

func (q *queue) read(id bursar.ID) (d store.Delivery) {
	q.Helper()
	q.do(func(tx *store.Tx) (err error) {
		d, err = tx.Deliveries().ByID(ctx, id)
		return err
	})
	return d
}

// lease takes what is due and records that it was sent in vain.
func (q *queue) fail(status string) {
	q.Helper()
	q.do(func(tx *store.Tx) error {
		due, err := storetest.Lease(ctx, tx, tx.Now().Add(time.Minute), 100)
		var outcomes []store.Outcome
		for _, d := range due {
			outcomes = append(outcomes, store.Outcome{
				Event:   d.Number,
				Due:     d.NextAt,
				Status:  status,
				Tries:   d.Tries + 1,
				NextAt:  tx.Now().Add(time.Hour),
				Attempt: store.Attempt{At: tx.Now(), Code: 500, Error: "no"},
			})
		}
		if err != nil {
			return err
		}
		return tx.Deliveries().RecordAttempts(ctx, outcomes)
	})
}

// What an event was not sent to stays on record: once the receiver is back, it is sent there after all.
func TestAnEventToADisabledURLKeepsIt(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		q.do(func(tx *store.Tx) error { return tx.WebhookURLs().Disable(ctx, shop, "https://old.example") })
		id := q.event(bursar.EventDeposit, "https://old.example", 0)
		if d := q.read(id); d.Status != store.DeliveryDisabled || d.URL != "https://old.example" {
			q.Fatalf("it is %+v", d)
		}
		q.do(func(tx *store.Tx) error {
			if held, err := tx.WebhookURLs().Waiting(ctx, shop, "https://old.example"); held.Waiting != 1 || err != nil {
				q.Errorf("held back are %+v, %v", held, err)
			}
			if due, err := tx.Deliveries().Redeliver(ctx, shop, id); due || err != nil {
				q.Errorf("due while it is disabled: %v, %v", due, err)
			}
			if other, err := tx.WebhookURLs().EnableAll(ctx, bursar.ID{7}, "https://old.example"); len(other) != 0 ||
				err != nil {
				q.Errorf("enabled for another: %v, %v", other, err)
			}
			if mine, err := tx.WebhookURLs().EnableAll(ctx, bursar.ID{}, "https://old.example"); len(mine) != 1 ||
				mine[0] != shop || err != nil {
				q.Errorf("enabled for %v, %v", mine, err)
			}
			due, err := tx.Deliveries().Redeliver(ctx, shop, id)
			if !due {
				q.Error("it is not due")
			}
			return err
		})
		if d := q.read(id); d.Status != store.DeliveryPending || d.URL != "https://old.example" {
			q.Errorf("it is %+v", d)
		}
	})
}

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

package store_test

import (
	"context"
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

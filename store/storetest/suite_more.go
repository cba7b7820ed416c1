package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

func deliveries(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	for n := range byte(30) {
		do(t, db, func(tx *store.Tx) error {
			return tx.Events().Insert(ctx, bursar.Event{
				ID:        bursar.ID{6, n},
				AccountID: account,
				Kind:      bursar.EventDeposit,
				Subject:   bursar.ID{1},
				URL:       "https://r.example",
				Body:      []byte("{}"),
				CreatedAt: tx.Now(),
			})
		})
	}
	var group sync.WaitGroup
	var taken atomic.Int64
	for range 6 {
		group.Go(func() {
			for range 5 {
				err := db.Do(ctx, func(tx *store.Tx) error {
					list, err := Lease(ctx, tx, tx.Now().Add(time.Minute), 4)
					taken.Add(int64(len(list)))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if taken.Load() != 30 {
		t.Fatalf("30 deliveries were leased %d times, want 30", taken.Load())
	}
	attempted(t, db, account)
	redelivered(t, db, account)
}

// attempted records what came of the newest two deliveries of deliveries: one was delivered, and one failed.
func attempted(t *testing.T, db *store.DB, account bursar.ID) {
	do(t, db, func(tx *store.Tx) error {
		list, err := tx.Deliveries().List(ctx, account, store.Page{Limit: 2})
		if err != nil || len(list) != 2 || list[0].Attempts != 0 {
			t.Fatalf("deliveries: %+v, %v", list, err)
		}
		return tx.Deliveries().RecordAttempts(ctx, []store.Outcome{
			{
				Event:   list[0].Number,
				Due:     list[0].NextAt,
				Status:  store.DeliveryDelivered,
				Attempt: store.Attempt{At: tx.Now(), Code: 204, Duration: time.Second},
			},
			{
				Event:   list[1].Number,
				Due:     list[1].NextAt,
				Status:  store.DeliveryPending,
				NextAt:  tx.Now(),
				Attempt: store.Attempt{At: tx.Now(), Code: 500, Error: "no"},
			},
		})
	})
}

// redelivered looks at the delivery that failed, sends all again, and disables their URL.
func redelivered(t *testing.T, db *store.DB, account bursar.ID) {
	do(t, db, func(tx *store.Tx) error {
		late := store.Outcome{Event: 2, Due: tx.Now().Add(-time.Hour), Status: store.DeliveryDelivered}
		if err := tx.Deliveries().RecordAttempts(ctx, []store.Outcome{late}); err != nil {
			return err
		}
		leased, err := tx.Deliveries().LeasedByOthers(ctx, store.DeliveryLease{})
		if err != nil {
			return err
		}
		// A deliverer gives back what it has recorded.
		due, err := tx.Deliveries().Due(ctx, slices.DeleteFunc(leased, func(n int64) bool { return n > 28 }), 10)
		if err != nil || len(due) != 1 || due[0].LastCode != 500 || due[0].Attempts != 1 {
			t.Fatalf("due again: %+v, %v", due, err)
		}
		tries, _ := tx.Deliveries().Attempts(ctx, due[0].Number)
		if len(tries) != 1 || tries[0].Error != "no" {
			t.Errorf("attempts: %+v", tries)
		}
		n, last, err := tx.Deliveries().RedeliverSome(ctx, store.Redelivery{
			Account: account,
			Since:   tx.Now().Add(-time.Hour),
			Limit:   100,
		})
		if n != 30 || last != 30 || err != nil {
			t.Errorf("%d redelivered up to %d, %v", n, last, err)
		}
		if err := tx.WebhookURLs().Disable(ctx, account, "https://r.example"); err != nil {
			return err
		}
		waiting := store.Receiver{Account: account, URL: "https://r.example"}
		if n, err := tx.WebhookURLs().DisableWaiting(ctx, waiting, 20); n != 20 || err != nil {
			t.Errorf("got %d disabled, %v, want 20 of 30", n, err)
		}
		if n, err := tx.WebhookURLs().DisableWaiting(ctx, waiting, 20); n != 10 || err != nil {
			t.Errorf("got %d disabled, %v, want the other 10", n, err)
		}
		left, _ := Lease(ctx, tx, tx.Now().Add(time.Minute), 10)
		gone := store.Receiver{Account: account, URL: "https://r.example"}
		dead, _ := tx.WebhookURLs().Disabled(ctx, []store.Receiver{gone, {Account: account, URL: "https://other.example"}})
		if !dead[gone] || len(dead) != 1 || len(left) != 0 {
			t.Errorf("disabled %v, %d left; want one receiver disabled, and 0 left", dead, len(left))
		}
		return err
	})
}

// keepAtOnce has eight transactions keep an answer of theirs under the same key, and returns the answer that was kept.
func keepAtOnce(t *testing.T, keep func(answer string) error) (winner string) {
	t.Helper()
	var group sync.WaitGroup
	var first atomic.Value
	var kept, taken atomic.Int64
	for i := range 8 {
		group.Go(func() {
			switch err := keep(fmt.Sprint("answer ", i)); {
			case err == nil:
				kept.Add(1)
				first.Store(fmt.Sprint("answer ", i))
			case errors.Is(err, store.ErrKeyTaken):
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if kept.Load() != 1 || taken.Load() != 7 {
		t.Fatalf("%d transactions kept their answer and %d found the key taken, want 1 and 7", kept.Load(), taken.Load())
	}
	winner, _ = first.Load().(string)
	return winner
}

func idempotency(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db, 1), newAccount(t, db, 2)
	name := store.KeyName{Account: account, Name: "k"}
	keep := func(answer string) error {
		return db.Do(ctx, func(tx *store.Tx) error {
			own := store.KeyName{Account: account, Name: "k/" + answer}
			tx.IdempotencyKeys().Keep(own, []byte("h"), store.Answer{Status: 200})
			tx.IdempotencyKeys().Keep(name, []byte("h"), store.Answer{Status: 200, Body: []byte(answer)})
			return nil
		})
	}
	winner := keepAtOnce(t, keep)
	find := func(names ...store.KeyName) (found map[store.KeyName]store.KeptAnswer) {
		err := db.Read(ctx, func(tx *store.Tx) (err error) {
			found, err = tx.IdempotencyKeys().Find(ctx, names)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	names := []store.KeyName{name, {Account: other, Name: "k"}, {Account: account, Name: "k/" + winner}}
	for i := range 8 { // nothing of the other transactions is there
		names = append(names, store.KeyName{Account: account, Name: fmt.Sprint("k/answer ", i)})
	}
	found := find(names...)
	if len(found) != 2 {
		t.Errorf("%d keys are stored, want the two of the transaction that came first: %v", len(found), found)
	}
	answer, err := found[name].For([]byte("h"), db.Now())
	if err != nil || answer.Status != 200 || string(answer.Body) != winner {
		t.Errorf("the answer is %d %q, %v, want 200 %q", answer.Status, answer.Body, err, winner)
	}
	_, err = found[name].For([]byte("other"), db.Now())
	want(t, err, store.ErrOtherRequest)
	do(t, db, func(tx *store.Tx) error {
		n, err := tx.IdempotencyKeys().Forget(ctx, tx.Now().Add(time.Hour))
		if n != 2 {
			t.Errorf("%d keys were forgotten, want 2", n)
		}
		return err
	})
	if err := keep("again"); err != nil {
		t.Errorf("a forgotten key takes no answer: %v", err)
	}
}

func statuses(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	w := bursar.Withdrawal{
		ID:        bursar.ID{7},
		AccountID: account,
		Currency:  "BTC",
		Amount:    bursar.Units(5),
		Address:   bursar.Address{Base: "x"},
		Status:    bursar.WithdrawalQueued,
		CreatedAt: db.Now(),

		RequestedBy: "ann",
	}
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Withdrawals().Insert(ctx, bursar.Bitcoin, w); err != nil {
			return err
		}
		d := bursar.Deposit{ID: bursar.ID{1}, AccountID: account, Currency: "BTC", Amount: bursar.Units(5)}
		return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()), ledger.WithdrawalHeld(w, tx.Now()))
	})
	do(t, db, func(tx *store.Tx) error {
		queued, err := tx.Withdrawals().Queued(ctx, bursar.Bitcoin, []bursar.CurrencyCode{"BTC"}, false, 10)
		if err != nil || len(queued) != 1 {
			t.Fatalf("%d queued, %v", len(queued), err)
		}
		if queued[0].RequestedBy != "ann" {
			t.Errorf("got %q as who asked for it, want ann", queued[0].RequestedBy)
		}
		w = queued[0]
		if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalBroadcast); err == nil {
			t.Error("from queued straight to broadcast")
		}
		return tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalCancelled)
	})
	// read before it was cancelled
	err := db.Do(ctx, func(tx *store.Tx) error { return tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalSigned) })
	if err == nil {
		t.Error("a stale status was overwritten")
	}
	do(t, db, func(tx *store.Tx) error {
		got, err := tx.Withdrawals().Get(ctx, account, w.ID)
		if got.Status != bursar.WithdrawalCancelled || got.CompletedAt.IsZero() {
			t.Errorf("read back %+v", got)
		}
		return err
	})
}

package store_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An event whose receiver was enabled again while a lease looked at it stays due.
func TestALeaseDisablesNothingOfAnEnabledReceiver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, account := t.Context(), bursar.ID{9}
		to := store.Receiver{Account: account, URL: "https://a.example/"}
		do := func(f func(tx *store.Tx) error) {
			t.Helper()
			if err := db.Do(ctx, f); err != nil {
				t.Fatal(err)
			}
		}
		var due []store.Delivery
		do(func(tx *store.Tx) error {
			if err := tx.Accounts().Insert(ctx,
				bursar.Account{ID: account, CreatedAt: tx.Now(), WebhookGeneration: 1}); err != nil {
				return err
			}
			_, err := tx.Events().Record(ctx,
				bursar.Event{ID: bursar.ID{1}, AccountID: account, URL: to.URL, Kind: "deposit.confirmed", Subject: bursar.ID{3},
					Body: []byte("{}"), CreatedAt: tx.Now()})
			return err
		})
		// the lease (READ COMMITTED on PostgreSQL) reads what is due and that the receiver is dead ...
		do(func(tx *store.Tx) (err error) {
			if err = tx.WebhookURLs().Disable(ctx, account, to.URL); err == nil {
				due, err = tx.Deliveries().Due(ctx, nil, 10)
			}
			return err
		})
		// ... the customer sets the URL again ...
		do(func(tx *store.Tx) error { return tx.WebhookURLs().Enable(ctx, account, to.URL) })
		// ... and the lease goes on.
		do(func(tx *store.Tx) error { return tx.WebhookURLs().DisableEach(ctx, []int64{due[0].Number}) })
		do(func(tx *store.Tx) error {
			list, err := tx.Deliveries().Due(ctx, nil, 10)
			if len(list) != 1 {
				t.Errorf("got %d due events, want 1: the receiver is enabled", len(list))
			}
			return err
		})
	})
}

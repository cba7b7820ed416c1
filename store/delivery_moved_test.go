package store_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// moved moves what is due, and returns it as it was leased.
func (q *queue) moved() (due []store.Delivery) {
	q.Helper()
	q.do(func(tx *store.Tx) (err error) {
		if due, err = tx.Deliveries().Due(ctx, nil, 10); err != nil {
			return err
		}
		_, err = tx.Deliveries().Moved(ctx, due)
		return err
	})
	return due
}

// accountWebhook sets the account's own webhook.
func (q *queue) accountWebhook(url string) {
	q.Helper()
	q.do(func(tx *store.Tx) error {
		_, err := tx.Accounts().SetNotifications(ctx, bursar.Account{ID: shop, Webhook: url})
		return err
	})
}

// What an operator assigned to an account without a wallet is announced at the account's webhook, and follows that.
func TestAnEventAboutADepositWithoutAWalletFollowsTheAccountsWebhook(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		q.accountWebhook("https://old.example")
		id := bursar.ID{5, 77}
		q.do(func(tx *store.Tx) error {
			d := bursar.Deposit{ID: bursar.ID{33}, AccountID: shop, Purpose: bursar.ForAccount, Currency: "BTC",
				Chain: "bitcoin", TxID: "cd", Address: bursar.Address{Base: "hot"}}
			if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d}); err != nil {
				return err
			}
			return tx.Events().Insert(ctx, bursar.Event{ID: id, AccountID: shop, Kind: bursar.EventDeposit, Subject: d.ID,
				URL: "https://old.example", Body: []byte("{}"), CreatedAt: tx.Now().Add(-time.Hour)})
		})
		q.moved()
		if d := q.read(id); d.URL != "https://old.example" {
			q.Errorf("it goes to %s though nothing has changed, want https://old.example", d.URL)
		}
		q.accountWebhook("https://new.example")
		q.moved()
		if d := q.read(id); d.URL != "https://new.example" {
			q.Errorf("it goes to %s, want https://new.example", d.URL)
		}
		q.accountWebhook("")
		q.moved()
		if d := q.read(id); d.URL != "https://new.example" {
			q.Errorf("without a webhook it goes to %s, want https://new.example still", d.URL)
		}
	})
}

// A process that was taken for dead comes back with the answer of a receiver that was replaced meanwhile: it ends
// nothing, and the event is due at the new one.
func TestAnAnswerOfAReplacedReceiverEndsNothing(t *testing.T) {
	t.Parallel()
	onQueue(t, func(q *queue) {
		id := q.event(bursar.EventDeposit, "https://old.example", time.Hour)
		q.do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhook(ctx, shop, q.wallet, "https://new.example")
			return err
		})
		leased := q.moved()
		if len(leased) != 1 {
			q.Fatalf("%d events are due, want 1", len(leased))
		}
		for _, status := range []string{store.DeliveryDisabled, store.DeliveryFailed, store.DeliveryDelivered} {
			q.do(func(tx *store.Tx) error {
				return tx.Deliveries().RecordAttempts(ctx, []store.Outcome{{Event: leased[0].Number, Due: leased[0].NextAt,
					Status: status, Tries: 1, NextAt: leased[0].NextAt, Attempt: store.Attempt{At: tx.Now(), Code: 410}}})
			})
			if d := q.read(id); d.Status != store.DeliveryPending || d.URL != "https://new.example" {
				q.Errorf("after %s at the old receiver it is %s at %s, want pending at https://new.example", status, d.Status,
					d.URL)
			}
		}
		again := q.moved()
		if len(again) != 1 || again[0].URL != "https://new.example" {
			q.Errorf("due are %+v, want it at https://new.example", again)
		}
	})
}

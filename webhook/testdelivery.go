package webhook

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

// TestDeliveries records test events. It is safe for concurrent use and works in any process: a Deliverer finds the
// events in the database.
type TestDeliveries struct {
	DB        *store.DB
	IDs       *bursar.IDs
	Receivers netpolicy.Receivers // where events may go
}

// TestDelivery is a request for a test event: to the webhook of a wallet, to a URL, or with neither to the account's
// own webhook.
type TestDelivery struct {
	Account bursar.ID
	Wallet  bursar.ID
	URL     string

	// Done runs in the transaction that records the event, and may be nil.
	Done func(ctx context.Context, tx *store.Tx, d store.Delivery) error
}

// Record records a test event and returns its delivery, which is disabled where the URL answered 410 Gone. Errors:
// bursar.ErrNotFound for an unknown wallet or account, invalid_webhook for a URL to which nothing may be sent,
// invalid_request where there is no webhook or both a wallet and a URL are given.
func (t *TestDeliveries) Record(ctx context.Context, test TestDelivery) (d store.Delivery, err error) {
	err = t.DB.Do(ctx, func(tx *store.Tx) error {
		url, err := webhookOf(ctx, tx, test)
		if err != nil {
			return err
		}
		if err := t.Receivers.Check(url); err != nil {
			return err
		}
		e, err := TestEvent(t.IDs.Next(), test.Account, url, tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Events().Insert(ctx, e); err != nil {
			return err
		}
		if d, err = tx.Deliveries().ByID(ctx, e.ID); err != nil || test.Done == nil {
			return err
		}
		return test.Done(ctx, tx, d)
	})
	return d, err
}

func webhookOf(ctx context.Context, tx *store.Tx, test TestDelivery) (string, error) {
	if !test.Wallet.IsZero() {
		w, err := tx.Wallets().Get(ctx, test.Account, test.Wallet)
		err = store.AsRefusal(err)
		if err == nil && test.URL != "" {
			err = bursar.RefuseField(bursar.CodeInvalidRequest, "webhook", "either a wallet or a URL is tried, not both")
		}
		return w.Webhook, err
	}
	a, err := tx.Accounts().Get(ctx, test.Account)
	if err != nil || test.URL != "" {
		return test.URL, store.AsRefusal(err)
	}
	if a.Webhook == "" {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "webhook",
			"the account has no webhook of its own: name a wallet or a URL")
	}
	return a.Webhook, nil
}

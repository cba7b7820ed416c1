package api

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/webhook"
)

type testDeliveryAnswer struct {
	Webhook deliveryView `json:"webhook"`
}

// testWebhook is POST account/webhooks/test: a test event to a wallet's webhook, to a URL, or to the account's own
// webhook. A parameter that is sent empty is refused, because no URL means another target. It has a rate limit of its
// own, because it makes this service call whatever URL a client names.
func (a *api) testWebhook(ctx context.Context, c *call) (any, error) {
	test := webhook.TestDelivery{Account: c.identity.Account}
	wallet, toWallet := c.in.optionalID("walletID")
	url, toURL := c.in.optional("webhook")
	test.Wallet, test.URL = wallet, url
	switch {
	case c.in.err != nil:
		return nil, c.in.err
	case toWallet && wallet.IsZero():
		return nil, bursar.ErrNotFound // the nil UUID is no wallet's
	case toURL && url == "":
		c.in.refuse("webhook", "webhook must not be empty")
		return nil, c.in.err
	}
	if wait := a.limits.testDeliveries.take(c.now, c.identity.Account); wait > 0 {
		return nil, tooMany(wait)
	}
	var answer testDeliveryAnswer
	test.Done = func(ctx context.Context, tx *store.Tx, d store.Delivery) error {
		answer.Webhook = viewDelivery(d, nil)
		return c.keep(tx, answer)
	}
	_, err := a.TestDeliveries.Record(ctx, test)
	if err == nil && a.Redelivered != nil {
		a.Redelivered()
	}
	return answer, err
}

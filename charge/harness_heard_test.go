package charge_test

import (
	"encoding/json"
	"slices"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// notified is an event as its receiver reads it.
type notified struct {
	AccountID, Type, Event, EventID string
	Deposit                         wire.Deposit
	Charge                          struct {
		ChargeID, Currency, Address, Amount, AmountUSDT, FeeUSDT, RateUSDT,
		Metadata string
	}
}

// events returns what was recorded for the account's receivers, oldest first.
func (r *harness) events() []notified {
	r.t.Helper()
	var list []store.Delivery
	r.must(r.DB.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deliveries().List(ctx, r.account, store.Page{Limit: 10_000})
		return err
	}))
	slices.Reverse(list)
	events := make([]notified, len(list))
	for i, d := range list {
		var body struct{ Response struct{ Webhook notified } }
		r.must(json.Unmarshal(d.Body, &body))
		events[i] = body.Response.Webhook
	}
	return events
}

// heard checks the kinds of all events so far, in order.
func (r *harness) heard(kinds ...string) []notified {
	r.t.Helper()
	events := r.events()
	var got []string
	for _, e := range events {
		got = append(got, e.Event)
	}
	if !slices.Equal(got, kinds) {
		r.t.Fatalf("the events are %v, not %v", got, kinds)
	}
	return events
}

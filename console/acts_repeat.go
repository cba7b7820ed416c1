package console

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/webhook"
)

// repeats lists what sends events.
func (c *Console) repeats() []deed {
	return []deed{
		{name: "webhook.redeliver", verb: operator.VerbWebhookRedeliver, title: "Send an event again", nav: "Webhooks",
			does:   "The event is sent again with its ID, to the webhook that is set now, and its attempts start again.",
			button: "Send it again", twin: "bursar webhook redeliver", whose: ofEvent, do: c.redeliver},
		{name: "webhook.test", verb: operator.VerbWebhookRedeliver, title: "Send a test event", nav: "Webhooks",
			does:   "A test event is sent to the account's webhook, or to the URL, signed as every event is.",
			button: "Send a test event", twin: "bursar webhook test --account",
			fields: []field{{Name: "url", Label: "URL", Optional: true, Hint: "Empty: the account's own webhook."}},
			whose:  accountItself, do: c.test},
	}
}

// settlements lists what closes a question that waits for a person.
func (c *Console) settlements() []deed {
	return []deed{
		{name: "alarm.close", verb: operator.VerbAlarmClose, title: "Close an alarm", nav: "Home",
			does: "The alarm leaves the list. Nothing else changes: what is halted stays halted, and an alarm whose cause " +
				"persists is raised again.",
			button: "Close the alarm", fields: []field{reasonField}, twin: "bursar alarm close", do: c.closeAlarm},
		{name: "charge.resolve", verb: operator.VerbChargeResolve, title: "Resolve a payment of a charge", nav: "Charges",
			does: "accept makes the charge paid with what it received. credit leaves the money in the customer's balance and " +
				"the charge as it is.",
			warning: "A payment is resolved once.", button: "Resolve the payment",
			fields: []field{{Name: "charge", Label: "Charge", Hint: "Its ID."},
				{Name: "resolution", Label: "Resolution", Options: []string{"accept", "credit"}}, reasonField},
			whose: ofDeposit, do: c.resolve},
		{name: "unattributed.cancel", verb: operator.VerbUnattributedResolve, title: "Cancel a refund to a sender",
			nav:    "Unattributed",
			does:   "A refund that is not signed yet is not paid, and the deposit waits for a resolution again.",
			button: "Cancel the refund", fields: []field{reasonField}, twin: "bursar unattributed cancel", do: c.cancelReturn},
	}
}

func (c *Console) redeliver(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	err = c.DB.Do(v.ctx, func(tx *store.Tx) error {
		d, err := tx.Deliveries().ByID(v.ctx, id)
		if err != nil {
			return store.AsRefusal(err)
		}
		due, err := tx.Deliveries().Redeliver(v.ctx, d.AccountID, id)
		if err == nil && !due {
			err = bursar.Refuse(bursar.CodeInvalidRequest, "the event has no destination: its webhook is not set, or answered "+
				"410 Gone")
		}
		if err != nil {
			return err
		}
		return c.record(v.ctx, tx, v, operator.VerbWebhookRedeliver, d.AccountID, "event "+id.String(), d.Status, "due")
	})
	c.wake(err)
	return "/webhooks", err
}

func (c *Console) test(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	_, err = c.Acts.TestDeliveries.Record(v.ctx, webhook.TestDelivery{Account: id, URL: v.form.Get("url"),
		Done: func(ctx context.Context, tx *store.Tx, d store.Delivery) error {
			return c.record(ctx, tx, v, operator.VerbWebhookRedeliver, id, "event "+d.ID.String(), "", "test")
		}})
	c.wake(err)
	return "/webhooks", err
}

func (c *Console) wake(err error) {
	if err == nil && c.Acts.Wake != nil {
		c.Acts.Wake()
	}
}

// cancelCharge cancels a charge.
func (c *Console) cancelCharge(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	var account bursar.ID
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		account, err = ofCharge(v.ctx, tx, v, id)
		return store.AsRefusal(err)
	})
	if err != nil {
		return "", err
	}
	_, err = c.Acts.Charges.Cancel(v.ctx, charge.Change{Account: account, Charge: id,
		Done: func(ctx context.Context, tx *store.Tx, _ bursar.InvoiceDetail) error {
			return c.record(ctx, tx, v, operator.VerbChargeResolve, account, "charge "+id.String(), "", "cancelled")
		}})
	return "/charges/" + id.String(), err
}

func (c *Console) closeAlarm(v *visit, object string) (string, error) {
	number, err := strconv.ParseInt(object, 10, 64)
	if err != nil {
		return "", bursar.ErrNotFound
	}
	return "/", c.DB.Do(v.ctx, func(tx *store.Tx) error {
		a, err := tx.Alarms().Close(v.ctx, number)
		if err != nil {
			return store.AsRefusal(err)
		}
		return c.record(v.ctx, tx, v, operator.VerbAlarmClose, bursar.ID{}, fmt.Sprintf("alarm %d", number), a.Kind, "closed")
	})
}

// resolve resolves a payment of a charge; the object is its deposit.
func (c *Console) resolve(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	of, err := idOf(v.form.Get("charge"))
	if err != nil {
		return "", err
	}
	var d bursar.Deposit
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		d, err = tx.Deposits().ByID(v.ctx, id)
		return store.AsRefusal(err)
	})
	if err != nil {
		return "", err
	}
	kind := bursar.PaymentResolution(v.form.Get("resolution"))
	_, err = c.Acts.Charges.Resolve(v.ctx, charge.Resolution{Deposit: id, Kind: kind,
		Change: charge.Change{Account: d.AccountID, Charge: of,
			Done: func(ctx context.Context, tx *store.Tx, _ bursar.InvoiceDetail) error {
				return c.record(ctx, tx, v, operator.VerbChargeResolve, d.AccountID, "deposit "+id.String(), "", string(kind))
			}}})
	return "/charges/" + of.String(), err
}

func (c *Console) cancelReturn(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	_, err = c.Acts.Unattributed.Cancel(v.ctx, id, v.form.Get("reason"),
		func(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
			return c.record(ctx, tx, v, operator.VerbUnattributedResolve, bursar.ID{}, "deposit "+id.String(), "refund",
				"cancelled")
		})
	return "/unattributed", err
}

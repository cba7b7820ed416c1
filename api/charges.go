package api

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

type chargeAnswer struct {
	Charge wire.Charge `json:"charge"`
}

func (a *api) viewCharge(c bursar.Charge, at time.Time) (wire.Charge, error) {
	currency, err := a.currency(c.Currency)
	if err != nil {
		return wire.Charge{}, err
	}
	return wire.NewCharge(c, currency, at), nil
}

// createCharge is POST charge.
func (a *api) createCharge(ctx context.Context, c *call) (any, error) {
	if c.in.isSum() {
		return a.createInvoice(ctx, c)
	}
	o := charge.Request{Account: c.identity.Account, Currency: bursar.CurrencyCode(c.in.required("currency")),
		Webhook: c.in.required("webhook")}
	o.Metadata, _ = c.in.optional("metadata")
	seconds, sent := c.in.whole("expires", int(bursar.MinChargeLife/time.Second), int(bursar.MaxChargeLife/time.Second))
	if sent {
		o.Life = time.Duration(seconds) * time.Second
	}
	if err := a.chargeMinimum(c, &o); err != nil {
		return nil, err
	}
	o.Done = func(ctx context.Context, tx *store.Tx, made bursar.Charge) error {
		view, err := a.viewCharge(made, made.CreatedAt)
		if err != nil {
			return err
		}
		return c.keep(tx, chargeAnswer{view})
	}
	made, err := a.Charges.Create(ctx, o)
	if err != nil {
		return nil, err
	}
	view, err := a.viewCharge(made, made.CreatedAt)
	return chargeAnswer{view}, err
}

// chargeMinimum reads the minimum of a charge: a decimal with no more decimals than the currency's display precision.
func (a *api) chargeMinimum(c *call, o *charge.Request) error {
	text, sent := c.in.decimal("minimum")
	if c.in.err != nil || !sent {
		return c.in.err
	}
	currency, err := a.Registry.Get(o.Currency)
	if err != nil {
		return err
	}
	o.Minimum, err = currency.Parse(text)
	switch {
	case errors.Is(err, bursar.ErrAmountPlaces):
		return bursar.RefuseField(bursar.CodeInvalidAmount, "minimum", "an amount of %s has at most %d decimal places",
			currency.Code, currency.Places)
	case err != nil:
		return bursar.RefuseField(bursar.CodeInvalidAmount, "minimum",
			"minimum must be a plain decimal number without sign, exponent or leading zeros")
	case o.Minimum.IsZero():
		return bursar.RefuseField(bursar.CodeInvalidAmount, "minimum", "minimum must be more than zero")
	}
	return nil
}

// getCharge is GET charge.
func (a *api) getCharge(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("chargeID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	found, err := a.Charges.Find(ctx, c.identity.Account, id)
	if err != nil {
		return nil, err
	}
	view, err := a.viewFound(found, c.now)
	return map[string]any{"charge": view}, err
}

// viewFound returns a charge of either rule as clients see it.
func (a *api) viewFound(f charge.Found, at time.Time) (any, error) {
	if f.Sum != nil {
		return a.viewInvoice(*f.Sum, at), nil
	}
	return a.viewCharge(*f.Single, at)
}

type chargesAnswer struct {
	Charges    []any  `json:"charges"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// listCharges is GET account/charges.
func (a *api) listCharges(ctx context.Context, c *call) (any, error) {
	page, filter := c.in.page(chargeList), a.chargeFilter(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	charges, next, err := a.Charges.Search(ctx, c.identity.Account, filter, page)
	if err != nil {
		return nil, err
	}
	var answer chargesAnswer
	charges, answer.NextCursor = cutAt(next, charges, page, chargeList, charge.Found.Number)
	answer.Charges, err = each(charges, func(one charge.Found) (any, error) { return a.viewFound(one, c.now) })
	return answer, err
}

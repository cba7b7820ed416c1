package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// chargeParams are the parameters that identify a request for a charge.
var chargeParams = []string{
	"currency", "minimum", "expires", "webhook", "metadata", "amount", "price", "priceCurrency", "rateLock",
	"underPercent", "underAmount", "overPercent", "overAmount", "late", "other", "reference", "description", "customer",
	"redirectSuccess", "redirectFailure", "contact", "locale", "linkFormat", "events",
}

type invoiceAnswer struct {
	Charge wire.Invoice `json:"charge"`
}

func (a *api) viewInvoice(d bursar.InvoiceDetail, at time.Time) wire.Invoice {
	var prices wire.Prices
	if a.Prices != nil {
		prices = a.Prices.Price
	}
	return wire.NewInvoice(&d, d.State(at), a.Registry, prices, a.Checkout, at)
}

// isSum reports whether a request for a charge asks for one whose deposits add up.
func (in *input) isSum() bool {
	_, amount := in.params["amount"]
	_, price := in.params["price"]
	_, minimum := in.params["minimum"]
	if amount && price {
		in.refuse("price", "send one of minimum, amount and price")
	}
	if (amount || price) && minimum {
		in.refuse("minimum", "send one of minimum, amount and price")
	}
	return amount || price
}

// createInvoice is POST charge with an amount or a price.
func (a *api) createInvoice(ctx context.Context, c *call) (any, error) {
	t := charge.Terms{
		Account:    c.identity.Account,
		Currencies: codes(c.in.required("currency")),
		Webhook:    c.in.required("webhook"),
		Hash:       hashOf(chargeParams, c.in.params),
		Done: func(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail) error {
			return c.keep(tx, invoiceAnswer{a.viewInvoice(d, tx.Now())})
		},
	}
	c.in.price(&t)
	c.in.terms(&t)
	t.Reference, _ = c.in.optional("reference")
	t.Customer, _ = c.in.optional("customer")
	if c.in.err != nil {
		return nil, c.in.err
	}
	d, err := a.Charges.CreateSum(ctx, t)
	if err != nil {
		return nil, err
	}
	return invoiceAnswer{a.viewInvoice(d, a.DB.Now())}, nil
}

// terms reads what a charge is made with, except its price.
func (in *input) terms(t *charge.Terms) {
	for name, to := range map[string]*string{
		"metadata":        &t.Metadata,
		"description":     &t.Description,
		"redirectSuccess": &t.Success,
		"redirectFailure": &t.Failure,
		"contact":         &t.Contact,
		"locale":          &t.Locale,
		"linkFormat":      &t.LinkFormat,
	} {
		*to, _ = in.optional(name)
	}
	t.Late, t.Other = in.handling("late"), in.handling("other")
	t.Tolerance.Under, t.Tolerance.Over = in.tolerance("under"), in.tolerance("over")
	if kinds, sent := in.optional("events"); sent && kinds != "" {
		for kind := range strings.SplitSeq(kinds, ",") {
			t.Events = append(t.Events, bursar.EventKind(kind))
		}
	}
	if pending, sent := in.optional("acceptPending"); sent && pending != "false" {
		in.refuse("acceptPending",
			"a charge is paid by credited money only: use the status confirming, or fewer confirmations")
	}
}

// codes splits a list of currencies.
func codes(text string) (list []bursar.CurrencyCode) {
	for code := range strings.SplitSeq(text, ",") {
		list = append(list, bursar.CurrencyCode(code))
	}
	return list
}

// lives reads how long a charge and its rates last.
func (in *input) lives(t *charge.Terms) {
	seconds, sent := in.whole("expires", int(bursar.MinChargeLife/time.Second), int(bursar.MaxChargeLife/time.Second))
	if sent {
		t.Life = time.Duration(seconds) * time.Second
	}
	lock, sent := in.whole("rateLock", int(charge.MinRateLock/time.Second), int(bursar.MaxChargeLife/time.Second))
	if sent {
		t.RateLock = time.Duration(lock) * time.Second
	}
}

// price reads what a charge costs, and for how long.
func (in *input) price(t *charge.Terms) {
	in.lives(t)
	fiat, named := in.optional("priceCurrency")
	if _, sent := in.params["amount"]; sent && named {
		in.refuse("priceCurrency", "priceCurrency belongs to price")
	}
	if amount, sent := in.decimal("amount"); sent {
		t.Amount, t.Unit = amount, t.Currencies[0]
		if len(t.Currencies) > 1 {
			in.refuse("currency", "a charge with an amount has one currency; send price for several")
		}
		return
	}
	t.Amount, _ = in.decimal("price")
	if !named {
		in.refuse("priceCurrency", "priceCurrency is required with price")
	}
	t.Unit, t.Fiat = bursar.CurrencyCode(fiat), true
}

func (in *input) handling(name string) bursar.Handling {
	text, sent := in.optional(name)
	if sent && text != string(bursar.HandlingReview) && text != string(bursar.HandlingAccept) {
		in.refuse(name, "%s must be review or accept", name)
	}
	return bursar.Handling(text)
}

// tolerance reads a tolerance: a percentage with at most four decimals, an amount, or both.
func (in *input) tolerance(name string) (t charge.Tolerance) {
	percent, sent := in.decimal(name + "Percent")
	if sent {
		millionths, err := bursar.ParseDecimal(percent, 4)
		share, fits := millionths.Uint64()
		if err != nil || !fits || share > 1_000_000 {
			in.refuse(name+"Percent", "%sPercent must be a plain decimal from 0 to 100 with at most four decimals", name)
		}
		t.Millionths, t.HasShare = uint32(share), true
	}
	if amount, sent := in.decimal(name + "Amount"); sent {
		if amount == "" || strings.Trim(amount, "+-0123456789.") != "" { // the unit refuses what is left
			in.refuse(name+"Amount", "%sAmount must be a plain decimal number", name)
		}
		t.Amount = amount
	}
	return t
}

// changed returns what the handlers of changes have in common.
func (a *api) changed(c *call) charge.Change {
	return charge.Change{
		Account: c.identity.Account,
		Charge:  c.in.requiredID("chargeID"),
		Done: func(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail) error {
			return c.keep(tx, invoiceAnswer{a.viewInvoice(d, tx.Now())})
		},
	}
}

func (a *api) answerInvoice(d bursar.InvoiceDetail, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return invoiceAnswer{a.viewInvoice(d, a.DB.Now())}, nil
}

// cancelCharge is POST charge/cancel.
func (a *api) cancelCharge(ctx context.Context, c *call) (any, error) {
	change := a.changed(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerInvoice(a.Charges.Cancel(ctx, change))
}

// quoteCharge is POST charge/quote.
func (a *api) quoteCharge(ctx context.Context, c *call) (any, error) {
	change, code := a.changed(c), bursar.CurrencyCode(c.in.required("currency"))
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerInvoice(a.Charges.Quote(ctx, change, code))
}

// resolveCharge is POST charge/resolve.
func (a *api) resolveCharge(ctx context.Context, c *call) (any, error) {
	r := charge.Resolution{
		Change:  a.changed(c),
		Deposit: c.in.requiredID("depositID"),
		Kind:    bursar.PaymentResolution(c.in.required("resolution")),
	}
	if r.Kind != bursar.ResolveAccept && r.Kind != bursar.ResolveCredit {
		c.in.refuse("resolution", "resolution must be accept or credit; POST charge/refund refunds")
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerInvoice(a.Charges.Resolve(ctx, r))
}

// chargeFilter reads which charges a list shows.
func (a *api) chargeFilter(c *call) (f store.ChargeFilter) {
	in := &c.in
	if status, sent := in.optional("status"); sent {
		if f.Status = bursar.ChargeStatus(status); !slices.Contains(bursar.ChargeStatuses(), f.Status) {
			in.refuse("status", "there is no status %.20q", status)
		}
	}
	if label, sent := in.optional("label"); sent {
		if f.Label = bursar.ChargeLabel(label); !slices.Contains(bursar.ChargeLabels(), f.Label) {
			in.refuse("label", "there is no label %.20q", label)
		}
	}
	f.Attention = in.flag("attention")
	f.Reference, _ = in.optional("reference")
	if !charge.ValidReference(f.Reference) {
		in.refuse("reference", "no charge has such a reference")
	}
	if f.Customer, _ = in.optional("customer"); !bursar.Storable(f.Customer, bursar.MaxReference) {
		in.refuse("customer", "no charge has such a customer")
	}
	f.Metadata = in.metadata()
	f.Currency = a.optionalCurrency(c)
	f.From, _ = in.instant("from")
	f.To, _ = in.instant("to")
	return f
}

type ratesAnswer struct {
	Rates []wire.PairRate `json:"rates"`
}

// listRates is GET rates.
func (a *api) listRates(context.Context, *call) (any, error) {
	answer := ratesAnswer{Rates: []wire.PairRate{}}
	if a.Prices == nil {
		return answer, nil
	}
	for _, r := range a.Prices.All() {
		answer.Rates = append(answer.Rates, wire.NewPairRate(r))
	}
	return answer, nil
}

package wire

import (
	"time"

	"github.com/bursar/bursar"
)

// maxShown bounds each list within a charge: the newest are shown. Anybody may pay any number of times.
const maxShown = 100

// Prices returns what a whole unit of a currency is worth in a unit now; the zero Quote where that is not known.
type Prices func(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote

// NewInvoice returns the charge as clients see it, with its state at a time. prices may be nil, and pages
// zero.
func NewInvoice(
	d *bursar.InvoiceDetail, s bursar.InvoiceState, r *bursar.Registry, prices Prices, pages Checkout, at time.Time,
) Invoice {
	v := Invoice{
		Charge:      chargeOf(d, s, at),
		Rule:        "sum",
		Status:      s.Status,
		Labels:      append([]bursar.ChargeLabel{}, s.Labels...),
		Attention:   s.Attention,
		Version:     d.Version(at),
		Reference:   d.Reference,
		Description: d.Description,
		Customer:    d.Customer,
		Required:    Price{d.Unit.Exact(d.Required), d.Unit.Code},
		Received:    d.Unit.Exact(s.Received),
		Returned:    d.Unit.Exact(s.Returned),
		Pending:     d.Unit.Exact(s.Pending),
		Due:         d.Unit.Exact(s.Due),
		Over:        d.Unit.Exact(s.Over),
		Tolerance:   Tolerance{d.Unit.Exact(d.Under), d.Unit.Exact(d.Over)},
		Late:        d.Late,
		Other:       d.Other,
		RateLock:    int64(d.RateLock / time.Second),
		ExpiresAt:   d.Expires,
		Options:     []ChargeOption{},
		Payments:    []ChargePayment{},
		Refunds:     []ChargeRefund{},
		Timeline:    []ChargeMoment{},
		Redirect:    Redirect{d.Success, d.Failure},
		Contact:     d.Contact,
		Locale:      d.Locale,
		LinkFormat:  d.LinkFormat,
		Events:      append([]bursar.EventKind{}, d.Events...),
	}
	v.CheckoutURL = optional(pages.Page(d.Invoice))
	v.addPayer(d, s)
	v.addOptions(d, s, r, prices, pages, at)
	v.addPayments(d, s)
	for _, m := range newest(d.Moments) {
		v.Timeline = append(v.Timeline, ChargeMoment{At: m.At, What: m.What, Version: m.Version})
	}
	return v
}

// addPayer adds what the payer said, and since when the client is asked for something.
func (v *Invoice) addPayer(d *bursar.InvoiceDetail, s bursar.InvoiceState) {
	v.RefundAddresses, v.Answers, v.LinkID = []RefundAddress{}, map[string]string{}, optional(d.Link)
	if since := d.Recorded.AttentionAt; s.Attention && !since.IsZero() {
		v.AttentionSince = &since
	} else if s.Attention {
		v.AttentionSince = &d.Expires // it expired by the clock, which is not recorded yet
	}
	for _, p := range d.Proposals {
		v.RefundAddresses = append(v.RefundAddresses, RefundAddress{
			Currency:   p.Currency,
			Address:    p.Address.String(),
			Tag:        optional(p.Address.Tag()),
			ProposedAt: p.At,
			Named:      p.Changes,
			Locked:     d.RefundLocked(p.Currency),
		})
	}
	for _, a := range d.Answers {
		v.Answers[a.Name] = a.Value
	}
}

// chargeOf returns the fields that every charge has: the currency and address are those of the first option.
func chargeOf(d *bursar.InvoiceDetail, s bursar.InvoiceState, at time.Time) Charge {
	c := Charge{
		ChargeID:   d.ID,
		Minimum:    d.Unit.Exact(d.Required),
		Paid:       s.Status == bursar.ChargePaid,
		Expired:    s.Status == bursar.ChargeExpired || s.Status == bursar.ChargeCancelled,
		Expires:    bursar.Charge{Expires: d.Expires}.Left(at),
		Webhook:    d.Webhook,
		Metadata:   d.Metadata,
		DepositIDs: []bursar.ID{},
		CreatedAt:  d.CreatedAt,
	}
	if len(d.Options) > 0 {
		c.Currency = d.Options[0].Currency
		if d.Options[0].Wallet != 0 {
			c.Address = d.Options[0].Address.String()
		}
	}
	if d.Unit.Code != c.Currency {
		c.Minimum = "0" // the price is in another unit: addOptions knows how much that is now
	}
	for _, p := range newest(s.Payments) {
		if p.Deposit.Status == bursar.DepositConfirmed {
			c.DepositIDs = append(c.DepositIDs, p.Deposit.ID)
		}
	}
	return c
}

func newest[T any](list []T) []T { return list[max(0, len(list)-maxShown):] }

// addOptions adds the currencies that have an address, and those whose rate is known: no other one can be chosen.
func (v *Invoice) addOptions(
	d *bursar.InvoiceDetail, s bursar.InvoiceState, r *bursar.Registry, prices Prices, pages Checkout,
	at time.Time,
) {
	for _, o := range d.Options {
		currency, err := r.Get(o.Currency)
		if err != nil {
			continue // it is not configured any more
		}
		q, locked := o.Quoted(), o.Quoted().Locked(at)
		if !locked {
			q = bursar.Quote{}
			if prices != nil && d.Unit.Fiat {
				q = prices(o.Currency, d.Unit)
			}
		}
		if o.Wallet == 0 && !q.Rate.IsKnown() {
			continue
		}
		option := ChargeOption{Currency: o.Currency, Network: currency.Chain}
		if o.Wallet != 0 {
			address, tag := o.Address.String(), o.Address.Tag()
			option.Address, option.Tag = &address, optional(tag)
		}
		if q.Rate.IsKnown() {
			option.Rate, option.RateSource, option.RateAt = optional(q.Rate.String()), optional(q.Source), optional(q.RateAt)
			if due, err := bursar.OptionDue(q.Rate, s.Due, d.Unit, currency); err == nil {
				option.Due = optional(currency.Exact(due))
				option.link(o, currency, due, pages.Shop(d.AccountID), pages.Page(d.Invoice))
			}
		}
		if locked {
			option.LockedUntil = optional(q.Until)
		}
		if o.Currency == v.Currency && d.Unit.Fiat && option.Due != nil {
			v.Minimum = *option.Due
		}
		v.Options = append(v.Options, option)
	}
}

// link adds what a payer's wallet reads to pay, where something is due at an address.
func (o *ChargeOption) link(at bursar.InvoiceOption, c bursar.Currency, due bursar.Amount, shop, page string) {
	if at.Wallet == 0 || due.IsZero() {
		return
	}
	o.URI = optional(c.PaymentURI(at.Address, due, shop))
	if page != "" {
		o.QR = optional(page + "/qr/" + string(c.Code))
	}
}

func (v *Invoice) addPayments(d *bursar.InvoiceDetail, s bursar.InvoiceState) {
	for _, p := range newest(s.Payments) {
		exact := func(a bursar.Amount) string { return a.Decimal(p.Decimals, p.Places) }
		view := ChargePayment{
			DepositID:  p.Deposit.ID,
			HashID:     p.Deposit.TxID,
			Currency:   p.Deposit.Currency,
			Amount:     exact(p.Deposit.Amount),
			Rate:       optional(p.Rate.String()),
			RateSource: optional(p.RateSource),
			SeenAt:     p.Deposit.SeenAt,
			Status:     p.Deposit.Status,
			Counted:    p.Counted,
			Why:        optional(p.Why),
			Resolution: optional(p.Resolved()),
			Attention:  p.Open,
			Refundable: exact(p.Refundable()),
		}
		if p.Rate.IsKnown() {
			view.Value = optional(d.Unit.Exact(p.Value))
		}
		v.Payments = append(v.Payments, view)
	}
	for _, r := range newest(d.Refunds) {
		p := d.Payment(r.Deposit)
		if p == nil {
			continue // a refund belongs to a payment
		}
		fee := ""
		if !r.Fee.IsZero() {
			fee = r.Fee.Decimal(p.Decimals, p.Places)
		}
		v.Refunds = append(v.Refunds, ChargeRefund{
			WithdrawalID: r.Withdrawal,
			DepositID:    r.Deposit,
			Currency:     r.Currency,
			Amount:       r.Amount.Decimal(p.Decimals, p.Places),
			Fee:          fee,
			Status:       r.Status,
			CreatedAt:    r.CreatedAt,
		})
	}
}

// InvoiceEvent makes an event about a charge for its webhook: the body is the whole charge, whose version rises, so
// that a receiver drops what is older than what it knows.
func InvoiceEvent(id bursar.ID, kind bursar.EventKind, d *bursar.InvoiceDetail, s bursar.InvoiceState,
	r *bursar.Registry, now time.Time) (bursar.Event, error) {
	view := NewInvoice(d, s, r, nil, Checkout{}, now)
	view.Webhook = "" // the receiver knows its own URL
	return withBody(bursar.Event{
		ID:        id,
		AccountID: d.AccountID,
		Kind:      kind,
		Subject:   d.ID,
		URL:       d.Webhook,
		CreatedAt: now,
	}, webhookBody{Type: "charge", Charge: view})
}

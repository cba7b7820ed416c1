package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// NewSum is a request for a charge whose deposits add up: Amount of one currency, or Price in a fiat currency.
type NewSum struct {
	Currencies    []string // in which it can be paid; one where Amount is set
	Amount        string
	Price         string
	PriceCurrency string // of ISO 4217, such as EUR
	Webhook       string
	Metadata      string
	Life          time.Duration // whole seconds, a minute to 30 days; 0: an hour
	RateLock      time.Duration // whole seconds, at most Life; 0: 15 minutes

	UnderPercent, UnderAmount string // how much may be missing; of both, the smaller counts
	OverPercent, OverAmount   string // how much may be too much
	Late, Other               string // review or accept; empty: review

	Reference       string // again with the same request it returns the first charge
	Description     string
	Customer        string
	RedirectSuccess string
	RedirectFailure string
	Contact         string
	Locale          string
	LinkFormat      string
	Events          []string // that are sent besides paid, late, reversed and attention

	IdempotencyKey string // empty: a random one for this call
}

func (n NewSum) values() map[string]any {
	values := map[string]any{"currency": strings.Join(n.Currencies, ","), "webhook": n.Webhook, "metadata": n.Metadata}
	for name, text := range map[string]string{
		"amount":          n.Amount,
		"price":           n.Price,
		"priceCurrency":   n.PriceCurrency,
		"underPercent":    n.UnderPercent,
		"underAmount":     n.UnderAmount,
		"overPercent":     n.OverPercent,
		"overAmount":      n.OverAmount,
		"late":            n.Late,
		"other":           n.Other,
		"reference":       n.Reference,
		"description":     n.Description,
		"customer":        n.Customer,
		"redirectSuccess": n.RedirectSuccess,
		"redirectFailure": n.RedirectFailure,
		"contact":         n.Contact,
		"locale":          n.Locale,
		"linkFormat":      n.LinkFormat,
		"events":          strings.Join(n.Events, ","),
	} {
		if text != "" {
			values[name] = text
		}
	}
	if n.Life != 0 {
		values["expires"] = int64(n.Life / time.Second)
	}
	if n.RateLock != 0 {
		values["rateLock"] = int64(n.RateLock / time.Second)
	}
	return values
}

// CreateSum makes a charge whose deposits add up. Errors: UnsupportedCurrency, InvalidAmount, InvalidWebhook,
// BelowMinimum, InvalidRequest, RateUnavailable, and IdempotencyConflict for a reference of another request.
func (c *Client) CreateSum(ctx context.Context, n NewSum) (Charge, error) {
	return c.changeCharge(ctx, "charge", n.IdempotencyKey, n.values())
}

func (c *Client) changeCharge(ctx context.Context, path, key string, values map[string]any) (Charge, error) {
	answer, err := call[chargeAnswer](ctx, c, request{method: http.MethodPost, path: path, key: key, values: values})
	return answer.Charge, err
}

// CancelCharge ends a charge that is open; its addresses stay watched. Errors: NotFound, ChargeClosed.
func (c *Client) CancelCharge(ctx context.Context, chargeID string) (Charge, error) {
	return c.changeCharge(ctx, "charge/cancel", "", map[string]any{"chargeID": chargeID})
}

// QuoteCharge gives a currency of a charge its address and locks its rate. Errors: NotFound, ChargeClosed,
// UnsupportedCurrency, RateUnavailable.
func (c *Client) QuoteCharge(ctx context.Context, chargeID, currency string) (Charge, error) {
	return c.changeCharge(ctx, "charge/quote", "", map[string]any{"chargeID": chargeID, "currency": currency})
}

// AcceptPayment makes a charge paid by a payment that was not as asked for. Errors: NotFound, ChargeClosed,
// AlreadyResolved.
func (c *Client) AcceptPayment(ctx context.Context, chargeID, depositID string) (Charge, error) {
	return c.changeCharge(ctx, "charge/resolve", "",
		map[string]any{"chargeID": chargeID, "depositID": depositID, "resolution": "accept"})
}

// KeepPayment leaves a payment in the balance and changes nothing else. Errors: NotFound, ChargeClosed,
// AlreadyResolved.
func (c *Client) KeepPayment(ctx context.Context, chargeID, depositID string) (Charge, error) {
	return c.changeCharge(ctx, "charge/resolve", "",
		map[string]any{"chargeID": chargeID, "depositID": depositID, "resolution": "credit"})
}

// Refund is a request to pay a payment back. Set Amount or Part, or neither for all that is left of the payment.
type Refund struct {
	ChargeID  string
	DepositID string
	Address   string // that the payer names; the sender of the payment may be an exchange
	Amount    string // of the currency that was paid
	Part      string // all or over
	Rate      string // with a Part: then or now
	Fee       string // who bears it: merchant (the default) or payer; not of clients whose Config has Orders

	IdempotencyKey string // empty: a random one for this call

	// The rest is of clients whose Config has Orders, as in NewWithdrawal. What is signed is Amount, so it must be set.
	Currency string      // that was paid
	Created  time.Time   // when the refund was decided, stored with its key; zero: now
	MaxFee   string      // in units of the native asset; empty: no bound of yours
	Order    SignedOrder // as Orders.Order returned it and you stored it; zero: it is signed now
}

// RefundCharge pays a payment back by a withdrawal and returns both. Errors: those of Withdraw, NotFound,
// RateUnavailable, and InvalidRequest while the charge still takes payments.
func (c *Client) RefundCharge(ctx context.Context, r Refund) (Charge, Withdrawal, error) {
	if err := c.signRefund(&r); err != nil {
		return Charge{}, Withdrawal{}, err
	}
	values := map[string]any{"chargeID": r.ChargeID, "depositID": r.DepositID, "address": r.Address}
	for name, text := range map[string]string{"amount": r.Amount, "part": r.Part, "rate": r.Rate,
		"fee": r.Fee, "order": r.Order.Text} {
		if text != "" {
			values[name] = text
		}
	}
	answer, err := call[struct {
		Charge     Charge     `json:"charge"`
		Withdrawal Withdrawal `json:"withdrawal"`
	}](ctx, c, request{
		method:    http.MethodPost,
		path:      "charge/refund",
		key:       r.IdempotencyKey,
		secret:    true,
		signature: r.Order.Signature,
		values:    values,
	})
	return answer.Charge, answer.Withdrawal, err
}

// signRefund signs the order of a refund where the client signs its orders.
func (c *Client) signRefund(r *Refund) (err error) {
	if c.config.Orders == nil || r.Order != (SignedOrder{}) {
		return nil
	}
	if r.Amount == "" || r.Currency == "" {
		return errors.New("client: a refund that is signed needs Amount and Currency")
	}
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = drawKey()
	}
	r.Order, err = c.config.Orders.Order(NewWithdrawal{
		Currency:       r.Currency,
		Amount:         r.Amount,
		Address:        r.Address,
		IdempotencyKey: r.IdempotencyKey,
		Created:        r.Created,
		MaxFee:         r.MaxFee,
	})
	return err
}

// ChargeFilter selects charges. The zero values select all; Status, Label, Attention and Reference select only charges
// whose deposits add up.
type ChargeFilter struct {
	Status    string
	Label     string
	Attention string // "true" or "false"
	Reference string
	Metadata  string // exactly
	Currency  string // in which it can be paid
	From      time.Time
	To        time.Time
}

// ChargesOf returns a list of the charges that a filter selects, for All.
func (c *Client) ChargesOf(f ChargeFilter) func(context.Context, Page) (List[Charge], error) {
	return func(ctx context.Context, p Page) (List[Charge], error) {
		values := map[string]any{}
		for name, text := range map[string]string{"status": f.Status, "label": f.Label, "attention": f.Attention,
			"reference": f.Reference, "metadata": f.Metadata, "currency": f.Currency} {
			if text != "" {
				values[name] = text
			}
		}
		for name, at := range map[string]time.Time{"from": f.From, "to": f.To} {
			if !at.IsZero() {
				values[name] = at.Format(time.RFC3339Nano)
			}
		}
		answer, err := call[chargeAnswer](ctx, c,
			request{method: http.MethodGet, path: "account/charges", values: p.values(values)})
		return List[Charge]{answer.Charges, answer.NextCursor}, err
	}
}

// PairRate is what a whole unit of a currency is worth in a fiat currency now.
type PairRate struct {
	Currency      string    `json:"currency"`
	PriceCurrency string    `json:"priceCurrency"`
	Rate          string    `json:"rate"`
	Source        string    `json:"source"`
	At            time.Time `json:"at"`
}

// Rates returns the rates in fiat that count now.
func (c *Client) Rates(ctx context.Context) ([]PairRate, error) {
	answer, err := call[struct {
		Rates []PairRate `json:"rates"`
	}](ctx, c, request{method: http.MethodGet, path: "rates"})
	return answer.Rates, err
}

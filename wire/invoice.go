package wire

import (
	"time"

	"github.com/bursar/bursar"
)

// Invoice is a charge whose deposits add up as clients see it: the fields of a Charge, and those of its own.
type Invoice struct {
	Charge
	Rule        string               `json:"rule"`
	Status      bursar.ChargeStatus  `json:"status"`
	Labels      []bursar.ChargeLabel `json:"labels"`
	Attention   bool                 `json:"attention"`
	Version     int64                `json:"version"`
	Reference   string               `json:"reference"`
	Description string               `json:"description"`
	Customer    string               `json:"customer"`
	Required    Price                `json:"required"`
	Received    string               `json:"received"` // in the currency of Required, as the next four
	Returned    string               `json:"returned"`
	Pending     string               `json:"pending"`
	Due         string               `json:"due"`
	Over        string               `json:"over"`
	Tolerance   Tolerance            `json:"tolerance"`
	Late        bursar.Handling      `json:"late"`
	Other       bursar.Handling      `json:"other"`
	RateLock    int64                `json:"rateLock"` // seconds
	ExpiresAt   time.Time            `json:"expiresAt"`
	Options     []ChargeOption       `json:"options"`
	Payments    []ChargePayment      `json:"payments"`
	Refunds     []ChargeRefund       `json:"refunds"`
	Timeline    []ChargeMoment       `json:"timeline"`
	Redirect    Redirect             `json:"redirect"`
	Contact     string               `json:"contact"`
	Locale      string               `json:"locale"`
	LinkFormat  string               `json:"linkFormat"`
	Events      []bursar.EventKind   `json:"events"`
	CheckoutURL *string              `json:"checkoutURL"` // the payer's page; null in events, and where there is none

	AttentionSince  *time.Time        `json:"attentionSince"` // null: nothing waits for a resolution
	RefundAddresses []RefundAddress   `json:"refundAddresses"`
	LinkID          *bursar.ID        `json:"linkID"`  // null: it was made by no payment link
	Answers         map[string]string `json:"answers"` // of the payer, to the fields of the link
}

// Checkout is where payers' pages are, and the name of the shop in the links that their wallets read. The zero Checkout
// has no pages.
type Checkout struct {
	URL   string // scheme and host
	Name  string
	Names map[bursar.ID]string // of accounts that have their own
}

// Shop returns the name of an account's shop.
func (c Checkout) Shop(account bursar.ID) string {
	if name, own := c.Names[account]; own {
		return name
	}
	return c.Name
}

// Page returns the URL of a charge's page, "" where there is none.
func (c Checkout) Page(v bursar.Invoice) string {
	if c.URL == "" || v.Token.IsZero() {
		return ""
	}
	return c.URL + "/pay/" + v.Token.String()
}

// RefundAddress is where a payer wants the payments of a currency refunded to.
type RefundAddress struct {
	Currency   bursar.CurrencyCode `json:"currency"`
	Address    string              `json:"address"`
	Tag        *string             `json:"tag"`
	ProposedAt time.Time           `json:"proposedAt"`
	Named      int64               `json:"named"`  // how often one was named: above 1, another one came before
	Locked     bool                `json:"locked"` // a payment of the currency is refunded
}

// Price is an amount of a currency, which may be a fiat currency.
type Price struct {
	Amount   string              `json:"amount"`
	Currency bursar.CurrencyCode `json:"currency"`
}

// Tolerance is what may be missing, and what may be too much.
type Tolerance struct {
	Under string `json:"under"`
	Over  string `json:"over"`
}

// Redirect says where the payer's page returns to.
type Redirect struct {
	Success string `json:"success"`
	Failure string `json:"failure"`
}

// ChargeOption is a currency in which a charge may be paid. Rate and what follows are null while no rate is known.
type ChargeOption struct {
	Currency    bursar.CurrencyCode `json:"currency"`
	Network     bursar.ChainID      `json:"network"`
	Address     *string             `json:"address"` // null until the currency is chosen
	Tag         *string             `json:"tag"`     // the address's memo, where it has one
	Rate        *string             `json:"rate"`
	RateSource  *string             `json:"rateSource"`
	RateAt      *time.Time          `json:"rateAt"`
	LockedUntil *time.Time          `json:"lockedUntil"` // null: the rate is not locked, or has no end
	Due         *string             `json:"due"`
	URI         *string             `json:"uri"` // for a payer's wallet; null: there is nothing to pay, or no such form
	QR          *string             `json:"qr"`  // URL of an image; null: nothing to pay, or no page
}

// ChargePayment is a deposit to an address of a charge.
type ChargePayment struct {
	DepositID  bursar.ID                 `json:"depositID"`
	HashID     string                    `json:"hashID"`
	Currency   bursar.CurrencyCode       `json:"currency"`
	Amount     string                    `json:"amount"`
	Rate       *string                   `json:"rate"`
	RateSource *string                   `json:"rateSource"`
	Value      *string                   `json:"value"` // null while the rate is unknown
	SeenAt     time.Time                 `json:"seenAt"`
	Status     bursar.DepositStatus      `json:"status"`
	Counted    bool                      `json:"counted"`
	Why        *string                   `json:"why"`        // why it is not counted
	Resolution *bursar.PaymentResolution `json:"resolution"` // null: none
	Attention  bool                      `json:"attention"`  // it waits for a resolution
	Refundable string                    `json:"refundable"`
}

// ChargeRefund is a withdrawal that refunds a payment.
type ChargeRefund struct {
	WithdrawalID bursar.ID               `json:"withdrawalID"`
	DepositID    bursar.ID               `json:"depositID"`
	Currency     bursar.CurrencyCode     `json:"currency"`
	Amount       string                  `json:"amount"`
	Fee          string                  `json:"fee,omitempty"` // what of it the recipient bore
	Status       bursar.WithdrawalStatus `json:"status"`
	CreatedAt    time.Time               `json:"createdAt"`
}

// ChargeMoment is something that happened to a charge.
type ChargeMoment struct {
	At      time.Time     `json:"at"`
	What    bursar.Moment `json:"what"`
	Version int64         `json:"version"`
}

// PairRate is a rate that counts now: what a whole unit of a currency is worth in a fiat currency.
type PairRate struct {
	Currency      bursar.CurrencyCode `json:"currency"`
	PriceCurrency bursar.CurrencyCode `json:"priceCurrency"`
	Rate          string              `json:"rate"`
	Source        string              `json:"source"`
	At            time.Time           `json:"at"`
}

// NewPairRate returns a rate as clients see it.
func NewPairRate(r bursar.PairRate) PairRate {
	return PairRate{
		Currency:      r.Currency,
		PriceCurrency: r.Unit,
		Rate:          r.Rate.String(),
		Source:        r.Source,
		At:            r.At,
	}
}

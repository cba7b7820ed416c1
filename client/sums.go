package client

import (
	"time"
)

// Price is an amount of a currency, which may be a fiat currency.
type Price struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// Tolerance is what may be missing and what may be too much, in the currency of the price.
type Tolerance struct {
	Under string `json:"under"`
	Over  string `json:"over"`
}

// ChargeRedirect says where a payer's page leads.
type ChargeRedirect struct {
	Success string `json:"success"`
	Failure string `json:"failure"`
}

// ChargeOption is a currency in which a charge can be paid. The fields from Rate on are empty while no rate is known.
type ChargeOption struct {
	Currency    string     `json:"currency"`
	Network     string     `json:"network"`
	Address     string     `json:"address"` // empty until the currency is chosen, by QuoteCharge
	Tag         string     `json:"tag"`     // the address's memo, where it has one
	Rate        string     `json:"rate"`
	RateSource  string     `json:"rateSource"`
	RateAt      *time.Time `json:"rateAt"`
	LockedUntil *time.Time `json:"lockedUntil"` // nil: the rate is not locked, or has no end
	Due         string     `json:"due"`         // what the payer is asked for
	// what a payer's wallet opens; empty: nothing is due, or there is no such form
	URI string `json:"uri"`
	QR  string `json:"qr"` // URL of an image of the code that the payer's page shows; empty: none
}

// ChargePayment is a deposit to an address of a charge.
type ChargePayment struct {
	DepositID  string    `json:"depositID"`
	HashID     string    `json:"hashID"`
	Currency   string    `json:"currency"`
	Amount     string    `json:"amount"`
	Rate       string    `json:"rate"` // empty where none was known at its first sight
	RateSource string    `json:"rateSource"`
	Value      string    `json:"value"` // in the currency of the price
	SeenAt     time.Time `json:"seenAt"`
	Status     string    `json:"status"`
	Counted    bool      `json:"counted"`
	Why        string    `json:"why"`        // why it is not counted
	Resolution string    `json:"resolution"` // empty: none
	Attention  bool      `json:"attention"`  // it waits for AcceptPayment, KeepPayment or RefundCharge
	Refundable string    `json:"refundable"`
}

// ChargeRefund is a withdrawal that refunds a payment.
type ChargeRefund struct {
	WithdrawalID string    `json:"withdrawalID"`
	DepositID    string    `json:"depositID"`
	Currency     string    `json:"currency"`
	Amount       string    `json:"amount"` // of the payment
	Fee          string    `json:"fee"`    // what of it the payer bears: the withdrawal pays the rest; empty: nothing
	Status       string    `json:"status"`
	CreatedAt    time.Time `json:"createdAt"`
}

// ChargeMoment is something that happened to a charge.
type ChargeMoment struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	Version int64     `json:"version"`
}

// The statuses of a charge whose deposits add up.
const (
	SumOpen       = "open"       // waits for value
	SumConfirming = "confirming" // enough is in blocks, and not all of it is credited
	SumPaid       = "paid"
	SumExpired    = "expired"
	SumCancelled  = "cancelled"
)

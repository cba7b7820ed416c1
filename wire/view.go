// Package wire holds what clients and webhook receivers see: the JSON of responses and of events.
//
// It owns their shapes and builds them from domain types. It never reads a database, and shows no secret.
package wire

import (
	"time"

	"github.com/bursar/bursar"
)

// Wallet is a wallet as clients see it, in responses.
type Wallet struct {
	WalletID  bursar.ID           `json:"walletID"`
	Currency  bursar.CurrencyCode `json:"currency"`
	Address   string              `json:"address"`
	Minimum   string              `json:"minimum"`
	Webhook   string              `json:"webhook"`
	Metadata  string              `json:"metadata"`
	CreatedAt time.Time           `json:"createdAt"`
}

// NewWallet returns the wallet as clients see it.
func NewWallet(w bursar.Wallet, c bursar.Currency) Wallet {
	return Wallet{WalletID: w.ID, Currency: w.Currency, Address: w.Address.String(), Minimum: c.Exact(c.Minimum),
		Webhook: w.Webhook, Metadata: w.Metadata, CreatedAt: w.CreatedAt}
}

// Deposit is a deposit as clients see it, in responses and in webhooks.
type Deposit struct {
	DepositID             bursar.ID            `json:"depositID"`
	WalletID              *bursar.ID           `json:"walletID"` // null where an operator assigned it to the account alone
	HashID                string               `json:"hashID"`
	Currency              bursar.CurrencyCode  `json:"currency"`
	Address               string               `json:"address"`
	Amount                string               `json:"amount"`
	Fee                   string               `json:"fee"`
	Webhook               string               `json:"webhook,omitempty"`
	Metadata              string               `json:"metadata"`
	Status                bursar.DepositStatus `json:"status"`
	Confirmations         uint64               `json:"confirmations"`
	RequiredConfirmations int                  `json:"requiredConfirmations"`
	BlockHeight           uint64               `json:"blockHeight"`
	OutputIndex           uint32               `json:"outputIndex"`
	CreatedAt             time.Time            `json:"createdAt"`
	ConfirmedAt           *time.Time           `json:"confirmedAt"`
}

// ConfirmationContext is the state of a chain by which a deposit's confirmations are counted.
type ConfirmationContext struct {
	Latest   uint64 // height of the newest block
	Required int    // confirmations that the chain requires of every deposit
}

// NewDeposit returns the deposit as clients see it.
func NewDeposit(d bursar.Deposit, c bursar.Currency, at ConfirmationContext) Deposit {
	return Deposit{
		DepositID:             d.ID,
		WalletID:              optional(d.WalletID),
		HashID:                d.TxID,
		Currency:              d.Currency,
		Address:               d.Address.String(),
		Amount:                c.Exact(d.Amount),
		Fee:                   c.Exact(d.Fee),
		Webhook:               d.Webhook,
		Metadata:              d.Metadata,
		Status:                d.Status,
		Confirmations:         d.Confirmations(at.Latest),
		RequiredConfirmations: max(at.Required, int(d.Required)),
		BlockHeight:           d.Height,
		OutputIndex:           d.Output,
		CreatedAt:             d.SeenAt,
		ConfirmedAt:           optional(d.ConfirmedAt),
	}
}

// Charge is a charge as clients see it.
type Charge struct {
	ChargeID   bursar.ID           `json:"chargeID"`
	Currency   bursar.CurrencyCode `json:"currency"`
	Address    string              `json:"address"`
	Minimum    string              `json:"minimum"`
	Paid       bool                `json:"paid"`
	Expired    bool                `json:"expired"`
	Expires    int64               `json:"expires"` // seconds left, 0 once expired
	Webhook    string              `json:"webhook"`
	Metadata   string              `json:"metadata"`
	DepositIDs []bursar.ID         `json:"depositIDs"`
	CreatedAt  time.Time           `json:"createdAt"`
}

// NewCharge returns the charge as clients see it at a time.
func NewCharge(c bursar.Charge, currency bursar.Currency, at time.Time) Charge {
	return Charge{
		ChargeID:   c.ID,
		Currency:   c.Currency,
		Address:    c.Address.String(),
		Minimum:    currency.Exact(c.Minimum),
		Paid:       c.Paid(),
		Expired:    c.Expired(at),
		Expires:    c.Left(at),
		Webhook:    c.Webhook,
		Metadata:   c.Metadata,
		DepositIDs: append([]bursar.ID{}, c.Deposits...),
		CreatedAt:  c.CreatedAt,
	}
}

// Withdrawal is a withdrawal as clients see it.
type Withdrawal struct {
	WithdrawalID bursar.ID               `json:"withdrawalID"`
	ChargeID     *bursar.ID              `json:"chargeID,omitempty"` // of a refund, in responses
	Reference    string                  `json:"reference,omitempty"`
	Metadata     Literal                 `json:"metadata,omitempty"`
	Currency     bursar.CurrencyCode     `json:"currency"`
	Amount       string                  `json:"amount"`
	Fee          string                  `json:"fee"`
	Address      string                  `json:"address"`
	HashID       *string                 `json:"hashID"`
	Status       bursar.WithdrawalStatus `json:"status"`
	// of one that is not signed yet, in lists and when read
	WaitsFor    bursar.OutgoingWait `json:"waitsFor,omitempty"`
	Error       *string             `json:"error"`
	CreatedAt   time.Time           `json:"createdAt"`
	CompletedAt *time.Time          `json:"completedAt"`
}

// Literal is JSON that is shown as it is; empty: nothing.
type Literal string

// MarshalJSON returns the text itself.
func (l Literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// UnmarshalJSON keeps the text.
func (l *Literal) UnmarshalJSON(text []byte) error {
	*l = Literal(text)
	return nil
}

// NewWithdrawal returns the withdrawal as clients see it.
func NewWithdrawal(w bursar.Withdrawal, c bursar.Currency) Withdrawal {
	return Withdrawal{
		WithdrawalID: w.ID,
		Reference:    w.Reference,
		Metadata:     Literal(w.Metadata),
		Currency:     w.Currency,
		Amount:       c.Exact(w.Amount),
		Fee:          c.Exact(w.Fee),
		Address:      w.Address.String(),
		HashID:       optional(w.TxID),
		Status:       w.Status,
		Error:        optional(w.Error),
		CreatedAt:    w.CreatedAt,
		CompletedAt:  optional(w.CompletedAt),
	}
}

// optional returns a pointer to the value; nil, which is null in JSON, for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

package client

import (
	"context"
	"net/http"
	"time"
)

// The statuses of a deposit.
const (
	DepositPending      = "pending"       // in a block that is not final
	DepositConfirmed    = "confirmed"     // credited
	DepositBelowMinimum = "below_minimum" // recorded, never credited
	DepositOrphaned     = "orphaned"      // was reorged out before it was credited
	DepositReversed     = "reversed"      // was reorged out after it was credited
)

// Deposit is a transfer to a wallet or a charge.
type Deposit struct {
	DepositID             string     `json:"depositID"`
	WalletID              string     `json:"walletID"` // the wallet's or charge's; empty: assigned to the account
	HashID                string     `json:"hashID"`
	Currency              string     `json:"currency"`
	Address               string     `json:"address"`
	Amount                string     `json:"amount"` // what the chain delivered, exact
	Fee                   string     `json:"fee"`    // deducted from it
	Webhook               string     `json:"webhook"`
	Metadata              string     `json:"metadata"`
	Status                string     `json:"status"`
	Confirmations         uint64     `json:"confirmations"`
	RequiredConfirmations uint64     `json:"requiredConfirmations"`
	BlockHeight           uint64     `json:"blockHeight"`
	OutputIndex           uint32     `json:"outputIndex"`
	CreatedAt             time.Time  `json:"createdAt"`
	ConfirmedAt           *time.Time `json:"confirmedAt"`
}

type depositAnswer struct {
	Deposit    Deposit   `json:"deposit"`
	Deposits   []Deposit `json:"deposits"`
	NextCursor string    `json:"nextCursor"`
}

func (c *Client) deposits(ctx context.Context, path string, values map[string]any) (depositAnswer, error) {
	return call[depositAnswer](ctx, c, request{method: http.MethodGet, path: path, values: values})
}

// Deposit returns a deposit. The error is NotFound for one that is unknown or another account's.
func (c *Client) Deposit(ctx context.Context, depositID string) (Deposit, error) {
	answer, err := c.deposits(ctx, "wallet/deposit", map[string]any{"depositID": depositID})
	return answer.Deposit, err
}

// Deposits lists the deposits to a wallet.
func (c *Client) Deposits(ctx context.Context, walletID string, p Page) (List[Deposit], error) {
	answer, err := c.deposits(ctx, "wallet/deposits", p.values(map[string]any{"walletID": walletID}))
	return List[Deposit]{answer.Deposits, answer.NextCursor}, err
}

// DepositsByHash returns every deposit of the account in one transaction. The error is NotFound for none.
func (c *Client) DepositsByHash(ctx context.Context, hashID string) ([]Deposit, error) {
	answer, err := c.deposits(ctx, "wallet/deposit/hash", map[string]any{"hashID": hashID})
	return answer.Deposits, err
}

package client

import (
	"context"
	"net/http"
	"time"
)

// Account is what an account holds, by currency, with the currency's places.
type Account struct {
	AccountID string            `json:"accountID"`
	Balance   map[string]string `json:"balance"` // what can be spent; below zero only after a chain took a credited deposit back
	Pending   map[string]string `json:"pending"` // in deposits that are not credited yet
	Held      map[string]string `json:"held"`    // for withdrawals under way
}

// Account returns the balance.
func (c *Client) Account(ctx context.Context) (Account, error) {
	answer, err := call[struct {
		Account Account `json:"account"`
	}](ctx, c, request{method: http.MethodGet, path: "account"})
	return answer.Account, err
}

// LedgerLine is what one entry of the books did to the account in one currency. Changes are exact and may be below zero.
type LedgerLine struct {
	Kind      string    `json:"kind"`
	Ref       string    `json:"ref"` // begins with the ID of the deposit or withdrawal
	Currency  string    `json:"currency"`
	Available string    `json:"available"`
	Held      string    `json:"held"`
	CreatedAt time.Time `json:"createdAt"`
}

// Ledger lists what changed the balance.
func (c *Client) Ledger(ctx context.Context, p Page) (List[LedgerLine], error) {
	answer, err := call[struct {
		Ledger     []LedgerLine `json:"ledger"`
		NextCursor string       `json:"nextCursor"`
	}](ctx, c, request{method: http.MethodGet, path: "account/ledger", values: p.values(nil)})
	return List[LedgerLine]{answer.Ledger, answer.NextCursor}, err
}

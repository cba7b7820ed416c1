package client

import (
	"context"
	"net/http"
	"time"
)

// Account is the balance of an account by currency, with the decimals of the currency's display precision.
type Account struct {
	AccountID string            `json:"accountID"`
	Balance   map[string]string `json:"balance"` // what can be spent; below zero only after a reorg of a deposit
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

// LedgerLine is an amount or a fee in the account's books. Available and Held are changes, exact, and may be below
// zero: their sums over all lines of a currency are the balance and what is held. Lines that the operator has archived
// are not listed.
type LedgerLine struct {
	Kind         string    `json:"kind"` // deposit, deposit_reversed, withdrawal_held, internal_transfer and so on
	Ref          string    `json:"ref"`  // names the entry among those of its kind
	Part         string    `json:"part"` // amount, or fee
	Currency     string    `json:"currency"`
	Amount       string    `json:"amount"`
	Available    string    `json:"available"`
	Held         string    `json:"held"`
	DepositID    string    `json:"depositID"`    // the deposit of the line; empty: none
	WithdrawalID string    `json:"withdrawalID"` // the withdrawal of the line; empty: none
	CreatedAt    time.Time `json:"createdAt"`
}

// LedgerFilter says which lines to list. An empty field does not restrict.
type LedgerFilter struct {
	Currency string
	Kind     string
	Since    time.Time // lines of this time or later
	Until    time.Time // and earlier than this
}

// Ledger lists what changed the balance.
func (c *Client) Ledger(ctx context.Context, p Page) (List[LedgerLine], error) {
	return c.LedgerOf(LedgerFilter{})(ctx, p)
}

// LedgerOf returns a list of some lines only, to call or to range over with All:
//
//	for line, err := range client.All(ctx, c.LedgerOf(client.LedgerFilter{Kind: "deposit"})) { … }
func (c *Client) LedgerOf(f LedgerFilter) func(context.Context, Page) (List[LedgerLine], error) {
	values := map[string]any{}
	for name, text := range map[string]string{"currency": f.Currency, "kind": f.Kind, "since": moment(f.Since),
		"until": moment(f.Until)} {
		if text != "" {
			values[name] = text
		}
	}
	return func(ctx context.Context, p Page) (List[LedgerLine], error) {
		answer, err := call[struct {
			Ledger     []LedgerLine `json:"ledger"`
			NextCursor string       `json:"nextCursor"`
		}](ctx, c, request{method: http.MethodGet, path: "account/ledger", values: p.values(values)})
		return List[LedgerLine]{answer.Ledger, answer.NextCursor}, err
	}
}

// moment formats a time for a request; the zero time is "".
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

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
// are not listed; LedgerPage has their sums.
type LedgerLine struct {
	Kind         string    `json:"kind"` // deposit, deposit_reversed, withdrawal_held, direct_transfer and so on
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
	values := f.values()
	return func(ctx context.Context, p Page) (List[LedgerLine], error) {
		page, err := c.ledger(ctx, values, p)
		return page.List, err
	}
}

// LedgerPage is a page of lines. The last one has the sums of the lines that are archived and not listed, if the list
// would reach any.
type LedgerPage struct {
	List[LedgerLine]
	Archived []ArchivedSums
}

// ArchivedSums are what the archived lines of a currency come to: exact, and below zero as those of lines may be.
type ArchivedSums struct {
	Currency  string    `json:"currency"`
	Available string    `json:"available"`
	Held      string    `json:"held"`
	Before    time.Time `json:"before"` // all of these lines are earlier
}

// LedgerPage lists what changed the balance as LedgerOf does, with the sums of what is archived.
func (c *Client) LedgerPage(ctx context.Context, f LedgerFilter, p Page) (LedgerPage, error) {
	return c.ledger(ctx, f.values(), p)
}

func (c *Client) ledger(ctx context.Context, values map[string]any, p Page) (LedgerPage, error) {
	answer, err := call[struct {
		Ledger     []LedgerLine   `json:"ledger"`
		Archived   []ArchivedSums `json:"archived"`
		NextCursor string         `json:"nextCursor"`
	}](ctx, c, request{method: http.MethodGet, path: "account/ledger", values: p.values(values)})
	return LedgerPage{List[LedgerLine]{answer.Ledger, answer.NextCursor}, answer.Archived}, err
}

func (f LedgerFilter) values() map[string]any {
	values := map[string]any{}
	for name, text := range map[string]string{"currency": f.Currency, "kind": f.Kind, "since": moment(f.Since),
		"until": moment(f.Until)} {
		if text != "" {
			values[name] = text
		}
	}
	return values
}

// moment formats a time for a request; the zero time is "".
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

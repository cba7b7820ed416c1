package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// DepositFilter says which deposits to list. An empty field does not restrict; several must all match.
type DepositFilter struct {
	Status   string
	Currency string
	HashID   string    // in any spelling
	Address  string    // in any form that the chain has
	From     time.Time // seen at or after
	To       time.Time // seen before
}

// AllDeposits returns the list of the deposits to all wallets and charges, to call or to range over with All.
func (c *Client) AllDeposits(f DepositFilter) func(context.Context, Page) (List[Deposit], error) {
	values := set(map[string]string{"status": f.Status, "currency": f.Currency, "hashID": f.HashID, "address": f.Address,
		"from": moment(f.From), "to": moment(f.To)})
	return func(ctx context.Context, p Page) (List[Deposit], error) {
		answer, err := c.deposits(ctx, "account/deposits", p.values(values))
		return List[Deposit]{answer.Deposits, answer.NextCursor}, err
	}
}

// DepositsOf returns a list of some deposits of a wallet, to call or to range over with All. Address selects nothing
// more.
func (c *Client) DepositsOf(walletID string, f DepositFilter) func(context.Context, Page) (List[Deposit], error) {
	values := set(map[string]string{"walletID": walletID, "status": f.Status, "currency": f.Currency, "hashID": f.HashID,
		"from": moment(f.From), "to": moment(f.To)})
	return func(ctx context.Context, p Page) (List[Deposit], error) {
		answer, err := c.deposits(ctx, "wallet/deposits", p.values(values))
		return List[Deposit]{answer.Deposits, answer.NextCursor}, err
	}
}

// WithdrawalFilter says which withdrawals to list. An empty field does not restrict; several must all match.
type WithdrawalFilter struct {
	Status    string
	Currency  string
	Reference string
	HashID    string    // in any spelling
	Address   string    // in any form that the chain has
	From      time.Time // requested at or after
	To        time.Time // requested before

	Metadata map[string]string // exactly this
}

// WithdrawalsOf returns a list of some withdrawals only, to call or to range over with All.
func (c *Client) WithdrawalsOf(f WithdrawalFilter) func(context.Context, Page) (List[Withdrawal], error) {
	values := set(map[string]string{"status": f.Status, "currency": f.Currency, "reference": f.Reference,
		"hashID": f.HashID, "address": f.Address, "from": moment(f.From), "to": moment(f.To)})
	if len(f.Metadata) > 0 {
		text, _ := json.Marshal(f.Metadata) // texts are always JSON
		values["metadata"] = string(text)
	}
	return func(ctx context.Context, p Page) (List[Withdrawal], error) {
		answer, err := call[withdrawalAnswer](ctx, c,
			request{method: http.MethodGet, path: "account/withdrawals", values: p.values(values)})
		return List[Withdrawal]{answer.Withdrawals, answer.NextCursor}, err
	}
}

// set returns the texts that are not empty.
func set(texts map[string]string) map[string]any {
	values := map[string]any{}
	for name, text := range texts {
		if text != "" {
			values[name] = text
		}
	}
	return values
}

// Found is what a search has found, at most 100 of each kind.
type Found struct {
	Wallets     []Wallet     `json:"wallets"`
	Charges     []Charge     `json:"charges"`
	Deposits    []Deposit    `json:"deposits"`
	Withdrawals []Withdrawal `json:"withdrawals"`
}

// Search finds what has exactly a text: an ID, a transaction hash, an address, a destination tag, or a reference of
// yours.
func (c *Client) Search(ctx context.Context, text string) (Found, error) {
	return call[Found](ctx, c,
		request{method: http.MethodGet, path: "account/search", values: map[string]any{"q": text}})
}

package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// WithdrawalQuote is what a withdrawal would cost.
type WithdrawalQuote struct {
	Currency   string    `json:"currency"`
	Amount     string    `json:"amount"` // what the receiver gets
	Fee        string    `json:"fee"`
	Total      string    `json:"total"` // what leaves the balance
	Address    string    `json:"address"`
	Minimum    string    `json:"minimum"`
	Maximum    string    `json:"maximum"`  // empty: none
	Fixed      bool      `json:"fixed"`    // the fee has no part that the network decides
	Internal   bool      `json:"internal"` // the address is of this service
	Status     string    `json:"status"`   // that the withdrawal would have
	ValidUntil time.Time `json:"validUntil"`
}

// QuoteWithdrawal asks what a withdrawal would cost, and holds nothing. Only Currency, Amount and Address count. Errors:
// those of Withdraw about these.
func (c *Client) QuoteWithdrawal(ctx context.Context, n NewWithdrawal) (WithdrawalQuote, error) {
	answer, err := call[struct {
		Quote WithdrawalQuote `json:"quote"`
	}](ctx, c, request{method: http.MethodGet, path: "account/withdraw/fee",
		values: map[string]any{"currency": n.Currency, "amount": n.Amount, "address": n.Address}})
	return answer.Quote, err
}

// CancelWithdrawal cancels a withdrawal and returns its amount and fee to the balance. One that is cancelled already is
// returned as it is. The error is TooLate for one that may have been signed, or has ended.
func (c *Client) CancelWithdrawal(ctx context.Context, withdrawalID string) (Withdrawal, error) {
	answer, err := call[withdrawalAnswer](ctx, c, request{method: http.MethodPost, path: "account/withdraw/cancel",
		secret: true, values: map[string]any{"withdrawalID": withdrawalID}})
	return answer.Withdrawal, err
}

// Metadata is what you keep with a withdrawal, as the text of a JSON object of strings; empty: nothing.
type Metadata string

// MetadataOf returns the metadata that has some texts by their names.
func MetadataOf(texts map[string]string) Metadata {
	if len(texts) == 0 {
		return ""
	}
	text, err := json.Marshal(texts)
	if err != nil {
		return "" // texts have no error
	}
	return Metadata(text)
}

// Texts returns the texts by their names.
func (m Metadata) Texts() map[string]string {
	texts := map[string]string{}
	_ = json.Unmarshal([]byte(m), &texts) // "" is none
	return texts
}

// UnmarshalJSON keeps the text.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	*m = Metadata(text)
	return nil
}

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

// QuoteWithdrawal asks what a withdrawal would cost, and holds nothing. Only Currency, Amount and Address count.
// Errors: those of Withdraw about these.
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

// WithdrawalResult is what became of one withdrawal of several: either Withdrawal or Err is set.
type WithdrawalResult struct {
	Reference  string
	Withdrawal *Withdrawal
	Err        *Error // with Code, Message and Field
}

// WithdrawEach requests up to 100 withdrawals, each of which must have a Reference of its own; each is taken or refused
// by itself, and the results are in their order. Call it again after any error, and where a result is Unavailable or
// Internal: none is taken twice. Their IdempotencyKeys are not used, but to sign orders.
func (c *Client) WithdrawEach(ctx context.Context, list []NewWithdrawal) ([]WithdrawalResult, error) {
	items := make([]map[string]any, len(list))
	for i, n := range list {
		if n.IdempotencyKey == "" {
			n.IdempotencyKey = n.Reference
		}
		if c.config.Orders != nil && n.Order == (SignedOrder{}) {
			var err error
			if n.Order, err = c.config.Orders.Order(n); err != nil {
				return nil, err
			}
		}
		items[i] = map[string]any{"currency": n.Currency, "amount": n.Amount, "address": n.Address, "reference": n.Reference}
		if n.Metadata != "" {
			items[i]["metadata"] = n.Metadata.Texts()
		}
		if n.Order.Text != "" {
			items[i]["order"], items[i]["signature"] = n.Order.Text, n.Order.Signature
		}
	}
	answer, err := call[struct {
		Results []struct {
			Reference  string      `json:"reference"`
			Withdrawal *Withdrawal `json:"withdrawal"`
			Error      *refusal    `json:"error"`
		} `json:"results"`
	}](ctx, c, request{method: http.MethodPost, path: "account/withdrawals", secret: true,
		values: map[string]any{"withdrawals": items}})
	var results []WithdrawalResult
	for _, r := range answer.Results {
		result := WithdrawalResult{Reference: r.Reference, Withdrawal: r.Withdrawal}
		if r.Error != nil {
			result.Err = &Error{Code: r.Error.Code, Message: r.Error.Message, Field: r.Error.Field,
				Docs: r.Error.Docs}
		}
		results = append(results, result)
	}
	return results, err
}

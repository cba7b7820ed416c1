package client

import (
	"context"
	"net/http"
)

// Currency is what a client needs to know to use a currency. Amounts are decimal texts.
type Currency struct {
	Chain                string `json:"chain"`
	Contract             string `json:"contract"` // empty for the native asset
	Decimals             int    `json:"decimals"` // of the smallest unit
	Places               int    `json:"places"`   // of balances, and of amounts in requests
	Minimum              string `json:"minimum"`  // the smallest deposit that is credited
	WithdrawalMinimum    string `json:"withdrawalMinimum"`
	WithdrawalMaximum    string `json:"withdrawalMaximum"`  // empty: none
	WithdrawalFee        string `json:"withdrawalFee"`      // "network", or a fixed amount; this account's, as all fees
	WithdrawalFeeFixed   string `json:"withdrawalFeeFixed"` // added to "network"; empty: nothing
	WithdrawalFeePercent string `json:"withdrawalFeePercent"`
	DepositFee           string `json:"depositFee"`
	DepositFeePercent    string `json:"depositFeePercent"`
	Confirmations        int    `json:"confirmations"`
	Memo                 string `json:"memo"` // name of the part of an address after the colon; empty: none
}

// Currencies are the currencies whose chain the service runs.
type Currencies struct {
	Codes   []string            `json:"currencies"`
	Details map[string]Currency `json:"details"`
}

// Currencies lists the currencies.
func (c *Client) Currencies(ctx context.Context) (Currencies, error) {
	return call[Currencies](ctx, c, request{method: http.MethodGet, path: "wallet/currencies"})
}

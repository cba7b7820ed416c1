package client

import (
	"context"
	"net/http"
	"time"
)

// Wallet is a deposit address with its webhook.
type Wallet struct {
	WalletID  string    `json:"walletID"`
	Currency  string    `json:"currency"`
	Address   string    `json:"address"` // <address> or <address>:<memo>
	Minimum   string    `json:"minimum"` // the smallest deposit that is credited
	Webhook   string    `json:"webhook"`
	Metadata  string    `json:"metadata"`
	CreatedAt time.Time `json:"createdAt"`
}

// NewWallet is a request for a wallet.
type NewWallet struct {
	Currency string
	Webhook  string // URL that receives the events of deposits
	Metadata string // your own text, up to 4096 bytes

	IdempotencyKey string // empty: a random one for this call
}

type walletAnswer struct {
	Wallet Wallet `json:"wallet"`
}

// CreateWallet makes a wallet. Errors: UnsupportedCurrency, InvalidWebhook, InvalidRequest.
func (c *Client) CreateWallet(ctx context.Context, n NewWallet) (Wallet, error) {
	answer, err := call[walletAnswer](ctx, c, request{method: http.MethodPost, path: "wallet", key: n.IdempotencyKey,
		values: map[string]any{"currency": n.Currency, "webhook": n.Webhook, "metadata": n.Metadata}})
	return answer.Wallet, err
}

// Wallet returns a wallet. The error is NotFound for one that is unknown or another account's.
func (c *Client) Wallet(ctx context.Context, walletID string) (Wallet, error) {
	answer, err := call[walletAnswer](ctx, c,
		request{method: http.MethodGet, path: "wallet", values: map[string]any{"walletID": walletID}})
	return answer.Wallet, err
}

type walletsAnswer struct {
	Wallets    []Wallet `json:"wallets"`
	NextCursor string   `json:"nextCursor"`
}

// Wallets lists the account's wallets.
func (c *Client) Wallets(ctx context.Context, p Page) (List[Wallet], error) {
	answer, err := call[walletsAnswer](ctx, c,
		request{method: http.MethodGet, path: "account/wallets", values: p.values(nil)})
	return List[Wallet]{answer.Wallets, answer.NextCursor}, err
}

// WalletFilter selects wallets. The zero values select all.
type WalletFilter struct {
	Currency string
	Metadata string    // exactly
	Address  string    // in any form that the chain has
	From     time.Time // created at or after
	To       time.Time // created before
}

// WalletsBy returns a list of the wallets that a filter selects, for All.
func (c *Client) WalletsBy(f WalletFilter) func(context.Context, Page) (List[Wallet], error) {
	values := filled(map[string]string{"currency": f.Currency, "metadata": f.Metadata, "address": f.Address,
		"from": moment(f.From), "to": moment(f.To)})
	return func(ctx context.Context, p Page) (List[Wallet], error) {
		answer, err := call[walletsAnswer](ctx, c,
			request{method: http.MethodGet, path: "account/wallets", values: p.values(values)})
		return List[Wallet]{answer.Wallets, answer.NextCursor}, err
	}
}

// WalletsOf lists the account's wallets of one currency.
func (c *Client) WalletsOf(ctx context.Context, currency string, p Page) (List[Wallet], error) {
	answer, err := call[walletsAnswer](ctx, c,
		request{method: http.MethodGet, path: "account/wallets", values: p.values(map[string]any{"currency": currency})})
	return List[Wallet]{answer.Wallets, answer.NextCursor}, err
}

// SetMetadata replaces a wallet's metadata and returns the wallet.
func (c *Client) SetMetadata(ctx context.Context, walletID, metadata string) (Wallet, error) {
	answer, err := call[walletAnswer](ctx, c, request{method: http.MethodPut, path: "wallet/metadata",
		values: map[string]any{"walletID": walletID, "metadata": metadata}})
	return answer.Wallet, err
}

type webhookAnswer struct {
	Updated int64  `json:"updated"`
	Wallet  Wallet `json:"wallet"`
}

func (c *Client) setWebhook(ctx context.Context, values map[string]any) (webhookAnswer, error) {
	return call[webhookAnswer](ctx, c, request{method: http.MethodPut, path: "wallet/webhook", values: values})
}

// SetWalletWebhook replaces one wallet's webhook and returns the wallet. An empty walletID is refused: it never means
// all.
func (c *Client) SetWalletWebhook(ctx context.Context, walletID, webhook string) (Wallet, error) {
	answer, err := c.setWebhook(ctx, map[string]any{"walletID": walletID, "webhook": webhook})
	return answer.Wallet, err
}

// SetCurrencyWebhook replaces the webhook of every wallet of a currency and returns how many there are. An empty
// currency is refused: it never means all.
func (c *Client) SetCurrencyWebhook(ctx context.Context, currency, webhook string) (int64, error) {
	answer, err := c.setWebhook(ctx, map[string]any{"currency": currency, "webhook": webhook})
	return answer.Updated, err
}

// SetEveryWebhook replaces the webhook of every wallet of the account and returns how many there are.
func (c *Client) SetEveryWebhook(ctx context.Context, webhook string) (int64, error) {
	answer, err := c.setWebhook(ctx, map[string]any{"webhook": webhook})
	return answer.Updated, err
}

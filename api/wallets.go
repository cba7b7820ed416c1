package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/wire"
)

type walletAnswer struct {
	Wallet wire.Wallet `json:"wallet"`
}

// currency returns the currency of a stored object. Where it is not configured, that is not the client's fault.
func (a *api) currency(code bursar.CurrencyCode) (bursar.Currency, error) {
	c, err := a.Registry.Get(code)
	if err != nil {
		return c, fmt.Errorf("%w: %w", errRemoved,
			bursar.RefuseField(bursar.CodeUnavailable, "currency", "%s is not configured at present", code))
	}
	return c, nil
}

// errRemoved is returned for objects of a currency that was removed from the configuration. Lists leave them out: their
// amounts cannot be written, and everything else must be listed.
var errRemoved = errors.New("removed from the configuration")

func (a *api) viewWallet(w bursar.Wallet) (wire.Wallet, error) {
	c, err := a.currency(w.Currency)
	if err != nil {
		return wire.Wallet{}, err
	}
	return wire.NewWallet(w, c), nil
}

func (a *api) answerWallet(w bursar.Wallet, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	view, err := a.viewWallet(w)
	return walletAnswer{view}, err
}

// keepWallet returns the function that a change of a wallet runs in its transaction.
func (a *api) keepWallet(c *call) func(context.Context, *store.Tx, bursar.Wallet) error {
	return func(ctx context.Context, tx *store.Tx, w bursar.Wallet) error {
		response, err := a.answerWallet(w, nil)
		if err != nil {
			return err
		}
		return c.keep(tx, response)
	}
}

// createWallet is POST wallet.
func (a *api) createWallet(ctx context.Context, c *call) (any, error) {
	n := wallet.New{
		Account:  c.identity.Account,
		Currency: bursar.CurrencyCode(c.in.required("currency")),
		Webhook:  c.in.required("webhook"),
		Done:     a.keepWallet(c),
	}
	n.Metadata, _ = c.in.optional("metadata")
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerWallet(a.Wallets.Create(ctx, n))
}

// getWallet is GET wallet.
func (a *api) getWallet(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("walletID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	if read := c.identity.Read.Wallet; read != nil && read.ID == id {
		return a.answerWallet(*read, nil)
	}
	return a.answerWallet(a.Wallets.Get(ctx, c.identity.Account, id))
}

// walletAhead says which wallet GET wallet reads, where the URL names one. What the request means is decided by the
// parameters as a whole, after the key: then it reads the wallet itself.
func walletAhead(r *http.Request) account.Ahead {
	id, err := bursar.ParseID(r.URL.Query().Get("walletID"))
	if err != nil {
		return account.Ahead{}
	}
	return account.Ahead{Wallet: id}
}

// setMetadata is PUT wallet/metadata.
func (a *api) setMetadata(ctx context.Context, c *call) (any, error) {
	id, metadata := c.in.requiredID("walletID"), c.in.required("metadata")
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerWallet(a.Wallets.SetMetadata(ctx, c.identity.Account, id, metadata, a.keepWallet(c)))
}

type webhookAnswer struct {
	Updated int64        `json:"updated"`
	Wallet  *wire.Wallet `json:"wallet,omitempty"`
}

func (a *api) answerWebhook(u wallet.Updated, err error) (any, error) {
	if err != nil || u.Wallet == nil {
		return webhookAnswer{Updated: u.Wallets}, err
	}
	view, err := a.viewWallet(*u.Wallet)
	return webhookAnswer{u.Wallets, &view}, err
}

// setWebhook is PUT wallet/webhook. A parameter that is sent empty is refused, because an empty scope means all
// wallets.
func (a *api) setWebhook(ctx context.Context, c *call) (any, error) {
	scope := wallet.Scope{Account: c.identity.Account}
	scope.Wallet, _ = c.in.optionalID("walletID")
	scope.Currency = a.optionalCurrency(c)
	webhook := c.in.required("webhook")
	if _, sent := c.in.params["walletID"]; sent && scope.Wallet.IsZero() {
		c.in.err = cmp.Or[error](c.in.err, bursar.ErrNotFound) // the nil UUID is no wallet's
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerWebhook(a.Wallets.SetWebhook(ctx, scope, webhook,
		func(ctx context.Context, tx *store.Tx, u wallet.Updated) error {
			response, err := a.answerWebhook(u, nil)
			if err != nil {
				return err
			}
			if err := c.keep(tx, response); err != nil || !scope.Wallet.IsZero() {
				return err
			}
			became := receiver(webhook)
			if scope.Currency != "" {
				became = string(scope.Currency) + ": " + became
			}
			return c.record(ctx, tx, "webhook.change", became)
		}))
}

// optionalCurrency returns a currency that was sent, "" for none. It refuses a currency that does not exist, the empty
// one too.
func (a *api) optionalCurrency(c *call) bursar.CurrencyCode {
	code, sent := c.in.optional("currency")
	if !sent {
		return ""
	}
	if _, err := a.Registry.Get(bursar.CurrencyCode(code)); err != nil {
		c.in.err = err
		return ""
	}
	return bursar.CurrencyCode(code)
}

type walletsAnswer struct {
	Wallets    []wire.Wallet `json:"wallets"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

// listWallets is GET account/wallets.
func (a *api) listWallets(ctx context.Context, c *call) (any, error) {
	page := c.in.page(walletList)
	f := store.WalletFilter{Currency: a.optionalCurrency(c), Metadata: c.in.metadata()}
	f.From, _ = c.in.instant("from")
	f.To, _ = c.in.instant("to")
	at := a.addressed(c, "address")
	if c.in.err != nil {
		return nil, c.in.err
	}
	var wallets []bursar.Wallet
	var next int64
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		if at != nil {
			own, err := ownWallets(ctx, tx, c.identity.Account, at)
			if err != nil {
				return err
			}
			f.Numbers = numbersOf(own)
		}
		var err error
		wallets, next, err = tx.Wallets().Select(ctx, c.identity.Account, f, page)
		return err
	})
	if err != nil {
		return nil, err
	}
	var answer walletsAnswer
	wallets, answer.NextCursor = cutAt(next, wallets, page, walletList, func(w bursar.Wallet) int64 { return w.Number })
	answer.Wallets, err = each(wallets, a.viewWallet)
	return answer, err
}

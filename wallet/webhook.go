package wallet

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Scope says whose webhook is set: one wallet's, all of a currency, or, with neither, the whole account's.
type Scope struct {
	Account  bursar.ID
	Wallet   bursar.ID
	Currency bursar.CurrencyCode
}

// Updated is the number of wallets whose webhook was changed, and the wallet where it was a single one.
type Updated struct {
	Wallets int64
	Wallet  *bursar.Wallet
}

// SetWebhook replaces the webhook of the existing wallets that the scope names; done runs in the same transaction and
// may be nil. A scope with a wallet and a currency is refused unless the wallet has that currency.
func (s *Service) SetWebhook(
	ctx context.Context, scope Scope, webhook string, done func(context.Context, *store.Tx, Updated) error,
) (u Updated, err error) {
	if err := s.receivers.Check(webhook); err != nil {
		return u, err
	}
	if scope.Currency != "" {
		if _, err := s.registry.Get(scope.Currency); err != nil {
			return u, err
		}
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		if u, err = s.setWebhook(ctx, tx, scope, webhook); err != nil {
			return err
		}
		if err := tx.WebhookURLs().Enable(ctx, scope.Account, webhook); err != nil || done == nil {
			return err
		}
		return done(ctx, tx, u)
	})
	return u, err
}

func (s *Service) setWebhook(ctx context.Context, tx *store.Tx, scope Scope, webhook string) (Updated, error) {
	if scope.Wallet.IsZero() {
		n, err := tx.Wallets().SetWebhookRule(ctx, scope.Account, scope.Currency, webhook)
		return Updated{Wallets: n}, err
	}
	w, err := tx.Wallets().SetWebhook(ctx, scope.Account, scope.Wallet, webhook)
	if err != nil {
		return Updated{}, store.AsRefusal(err)
	}
	if scope.Currency != "" && scope.Currency != w.Currency {
		return Updated{}, bursar.RefuseField(bursar.CodeInvalidRequest, "currency", "the wallet's currency is %s", w.Currency)
	}
	return Updated{Wallets: 1, Wallet: &w}, nil
}

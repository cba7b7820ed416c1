package account

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

// Settings are which events an account gets, and where. A nil field leaves its setting unchanged.
type Settings struct {
	NotifyPending     *bool   // deposit_pending events, to the webhooks of wallets and charges
	NotifyWithdrawals *bool   // withdrawal events, to the account's webhook
	Webhook           *string // the account's own; empty: use the newest that was set for all its wallets

	Receivers netpolicy.Receivers // where the webhook may be
}

// apply writes the settings into an account. The error is invalid_webhook for a URL to which nothing may be sent.
func (s Settings) apply(a *bursar.Account) error {
	if s.Webhook != nil && *s.Webhook != "" {
		if err := s.Receivers.Check(*s.Webhook); err != nil {
			return err
		}
	}
	set(&a.NotifyPending, s.NotifyPending)
	set(&a.NotifyWithdrawals, s.NotifyWithdrawals)
	set(&a.Webhook, s.Webhook)
	return nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Set changes an account's settings and returns the account. They apply to everything that happens after the commit. A
// webhook that is set is used again even if it had answered 410 Gone before. Errors: bursar.ErrNotFound,
// invalid_webhook.
func (s *Service) Set(ctx context.Context, id bursar.ID, settings Settings) (a bursar.Account, err error) {
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		if a, err = tx.Accounts().Lock(ctx, id); err != nil {
			return store.AsRefusal(err)
		}
		if err := settings.apply(&a); err != nil {
			return err
		}
		if a.Webhook != "" && settings.Webhook != nil {
			if err := tx.WebhookURLs().Enable(ctx, id, a.Webhook); err != nil {
				return err
			}
		}
		a, err = tx.Accounts().SetNotifications(ctx, a)
		return err
	})
	return a, err
}

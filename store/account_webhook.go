package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/wire"
)

// accountWebhook is where an account's own events about the currency of x go: the account's a.webhook, or where it has
// none the newest that was set for all its wallets, or for those of the currency; ” without any.
const accountWebhook = `CASE WHEN a.webhook <> '' THEN a.webhook ELSE COALESCE((SELECT r.webhook FROM webhook_rules r
	WHERE r.account_id = a.id AND (r.currency = x.currency OR r.currency = '') ORDER BY r.version DESC LIMIT 1), '') END`

// Webhook returns where an account's own events about a currency go, "" without a webhook. The error is
// ErrNotFound for an unknown account.
func (tx Accounts) Webhook(ctx context.Context, account bursar.ID,
	currency bursar.CurrencyCode) (url string, err error) {
	err = tx.row(ctx, "read account's webhook",
		`SELECT `+accountWebhook+` FROM accounts a CROSS JOIN (SELECT CAST($2 AS TEXT) AS currency) x
		WHERE a.id = $1`, []any{account, string(currency)}, &url)
	return url, err
}

// RecordWithdrawal records an event of a withdrawal's status for an account that asked for such events and has a
// webhook, and returns it, and whether it will be sent; the zero event for any other account.
func (tx Events) RecordWithdrawal(ctx context.Context, w bursar.Withdrawal, registry *bursar.Registry,
	ids *bursar.IDs) (e bursar.Event, due bool, err error) {
	var url string
	err = tx.row(ctx, "read account's webhook", `SELECT CASE WHEN a.notify_withdrawals THEN `+accountWebhook+` ELSE '' END
		FROM accounts a JOIN withdrawals x ON x.account_id = a.id WHERE x.id = $1`, []any{w.ID}, &url)
	if err != nil || url == "" {
		return e, false, err
	}
	currency, err := registry.Get(w.Currency)
	if err != nil {
		return e, false, nil // it is not configured any more, and what is known of its amounts cannot be written
	}
	e, err = wire.WithdrawalEvent(ids.Next(), url, w, currency, tx.Now())
	if err != nil {
		return e, false, err
	}
	due, err = tx.Record(ctx, e)
	return e, due, err
}

// SetNotifications changes which events an account is notified of, and its own webhook, and returns the account; an unknown
// one is ErrNotFound.
func (tx Accounts) SetNotifications(ctx context.Context, a bursar.Account) (bursar.Account, error) {
	return one(ctx, tx.Tx, "set notifications", accountColumns.scan,
		`UPDATE accounts SET notify_pending = $2, notify_withdrawals = $3, webhook = $4
		WHERE id = $1 RETURNING `+accountColumns.names, a.ID, a.NotifyPending, a.NotifyWithdrawals, a.Webhook)
}

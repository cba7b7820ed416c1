package store

import (
	"cmp"
	"context"
	"slices"

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

// OfWithdrawals returns the events of some withdrawals' statuses, for those accounts that asked for such events and
// have a webhook. accounts are theirs, as they were read in this transaction. It records nothing, and makes at most one
// statement.
func (tx Events) OfWithdrawals(ctx context.Context, list []bursar.Withdrawal, accounts map[bursar.ID]bursar.Account,
	registry *bursar.Registry, ids *bursar.IDs) ([]bursar.Event, error) {
	var unset []bursar.ID // accounts whose events go where those of their wallets go
	for _, w := range list {
		a := accounts[w.AccountID]
		if a.NotifyWithdrawals && a.Webhook == "" && !slices.Contains(unset, a.ID) {
			unset = append(unset, a.ID)
		}
	}
	rules, err := tx.newestRules(ctx, unset)
	if err != nil {
		return nil, err
	}
	var events []bursar.Event
	for _, w := range list {
		a := accounts[w.AccountID]
		currency, unknown := registry.Get(w.Currency)
		url := cmp.Or(a.Webhook, rules.of(a.ID, w.Currency))
		if !a.NotifyWithdrawals || url == "" || unknown != nil {
			continue
		}
		e, err := wire.WithdrawalEvent(ids.Next(), url, w, currency, tx.Now())
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// webhookRules are the webhooks that accounts set for all their wallets, or for those of a currency, newest first.
type webhookRules map[bursar.ID][]webhookRule

type webhookRule struct {
	account  bursar.ID
	currency bursar.CurrencyCode // "": all
	webhook  string
}

func (tx *Tx) newestRules(ctx context.Context, accounts []bursar.ID) (webhookRules, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	those, args := among(tx, "account_id", accounts)
	list, err := rows(ctx, tx, "read webhook rules", func(s scanner) (r webhookRule, err error) {
		return r, s.Scan(&r.account, &r.currency, &r.webhook)
	}, `SELECT account_id, currency, webhook FROM webhook_rules WHERE `+those+` ORDER BY version DESC`, args...)
	rules := webhookRules{}
	for _, r := range list {
		rules[r.account] = append(rules[r.account], r)
	}
	return rules, err
}

// of returns where an account's own events about a currency go by its rules; "" without one.
func (r webhookRules) of(account bursar.ID, currency bursar.CurrencyCode) string {
	for _, rule := range r[account] {
		if rule.currency == "" || rule.currency == currency {
			return rule.webhook
		}
	}
	return ""
}

// SetNotifications changes which events an account is notified of, and its own webhook, and returns the account; an
// unknown one is ErrNotFound.
func (tx Accounts) SetNotifications(ctx context.Context, a bursar.Account) (bursar.Account, error) {
	return one(ctx, tx.Tx, "set notifications", accountColumns.scan,
		`UPDATE accounts SET notify_pending = $2, notify_withdrawals = $3, webhook = $4
		WHERE id = $1 RETURNING `+accountColumns.names, a.ID, a.NotifyPending, a.NotifyWithdrawals, a.Webhook)
}

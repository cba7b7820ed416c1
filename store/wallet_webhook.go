package store

import (
	"context"

	"github.com/bursar/bursar"
)

// effectiveWebhook is where the events of a wallet go, as read by walletFrom.
const effectiveWebhook = `CASE
	WHEN w.for_charge THEN w.webhook
	WHEN ra.version > w.webhook_version AND ra.version > COALESCE(rc.version, -1) THEN ra.webhook
	WHEN rc.version > w.webhook_version THEN rc.webhook
	ELSE w.webhook END`

// SetWebhook replaces one wallet's webhook and returns the wallet; another account's is ErrNotFound.
func (tx Wallets) SetWebhook(ctx context.Context, account, id bursar.ID, webhook string) (bursar.Wallet, error) {
	version, err := tx.nextWebhookVersion(ctx, account)
	if err != nil {
		return bursar.Wallet{}, err
	}
	err = tx.change(ctx, "set webhook", `UPDATE wallets SET webhook = $3, webhook_version = $4
		WHERE id = $1 AND account_id = $2 AND for_charge = FALSE`, id, account, webhook, version)
	if err != nil {
		return bursar.Wallet{}, err
	}
	return tx.Get(ctx, account, id)
}

// SetWebhookRule replaces the webhook of every wallet of a currency, or of the account for "", and returns how many
// wallets that is. Its cost does not depend on their number.
func (tx Wallets) SetWebhookRule(ctx context.Context, account bursar.ID, currency bursar.CurrencyCode,
	webhook string) (int64, error) {
	version, err := tx.nextWebhookVersion(ctx, account)
	if err != nil {
		return 0, err
	}
	_, err = tx.exec(ctx, "set webhook rule",
		`INSERT INTO webhook_rules(account_id, currency, webhook, version) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, currency) DO UPDATE SET webhook = excluded.webhook, version = excluded.version`,
		account, string(currency), webhook, version)
	if err != nil {
		return 0, err
	}
	var wallets int64
	err = tx.row(ctx, "count wallets", `SELECT CAST(COALESCE(SUM(wallets), 0) AS BIGINT) FROM wallet_counts
		WHERE account_id = $1 AND (currency = $2 OR $2 = '')`,
		[]any{account, string(currency)}, &wallets)
	return wallets, err
}

func (tx *Tx) nextWebhookVersion(ctx context.Context, account bursar.ID) (int64, error) {
	var version int64
	err := tx.row(ctx, "take webhook version", `UPDATE accounts SET webhook_version = webhook_version + 1 WHERE id = $1
		RETURNING webhook_version`,
		[]any{account}, &version)
	return version, err
}

// WebhookVersions are the versions of accounts' webhooks.
type WebhookVersions map[bursar.ID]int64

// WebhookVersionsDeferred reads the newest version of each account, so that a new wallet's own webhook beats every
// older rule. An account may be named several times.
func (tx Wallets) WebhookVersionsDeferred(ctx context.Context, accounts []bursar.ID) *Deferred[WebhookVersions] {
	versions := WebhookVersions{}
	var ids []bursar.ID
	for _, id := range accounts {
		if _, seen := versions[id]; !seen {
			versions[id] = 0
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return known(versions)
	}
	type versioned struct {
		id      bursar.ID
		version int64
	}
	those, args := among(tx.Tx, "id", ids)
	return ask(ctx, tx.Tx, "read webhook versions", func(s scanner) (v versioned, err error) {
		return v, s.Scan(&v.id, &v.version)
	}, func(found []versioned) (WebhookVersions, error) {
		for _, v := range found {
			versions[v.id] = v.version
		}
		return versions, nil
	}, `SELECT id, webhook_version FROM accounts WHERE `+those, args...)
}

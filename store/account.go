package store

import (
	"context"
	"net/netip"
	"time"

	"github.com/bursar/bursar"
)

const accountColumns = `id, name, created_at, frozen, webhook_generation, webhook_overlap, notify_pending, notify_withdrawals, webhook`

func scanAccount(s scanner) (a bursar.Account, err error) {
	err = s.Scan(&a.ID, &a.Name, instant{&a.CreatedAt}, &a.Frozen, &a.WebhookGeneration, instant{&a.WebhookOverlap},
		&a.NotifyPending, &a.NotifyWithdrawals, &a.Webhook)
	return a, err
}

// Insert adds an account with its first webhook secret generation.
func (tx Accounts) Insert(ctx context.Context, a bursar.Account) error {
	_, err := tx.exec(ctx, "insert account", `INSERT INTO accounts(id, name, created_at, webhook_generation, notify_pending, notify_withdrawals, webhook)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, a.ID, a.Name, micros(a.CreatedAt), a.WebhookGeneration, a.NotifyPending, a.NotifyWithdrawals, a.Webhook)
	return err
}

// Get returns an account, or ErrNotFound.
func (tx Accounts) Get(ctx context.Context, id bursar.ID) (bursar.Account, error) {
	return one(ctx, tx.Tx, "read account", scanAccount, `SELECT `+accountColumns+` FROM accounts WHERE id = $1`, id)
}

// Lock is Account, and keeps the account unchanged until the transaction ends.
func (tx Accounts) Lock(ctx context.Context, id bursar.ID) (bursar.Account, error) {
	return one(ctx, tx.Tx, "lock account", scanAccount, `SELECT `+accountColumns+` FROM accounts WHERE id = $1`+tx.forUpdate(), id)
}

// All returns every account, oldest first.
func (tx Accounts) All(ctx context.Context) ([]bursar.Account, error) {
	return rows(ctx, tx.Tx, "list accounts", scanAccount, `SELECT `+accountColumns+` FROM accounts ORDER BY id`)
}

// LiftReversal allows withdrawals again that a reversal refused, once every deposit of the account that
// was credited and reversed is credited again.
func (tx Accounts) LiftReversal(ctx context.Context, id bursar.ID) error {
	if _, err := tx.Lock(ctx, id); err != nil { // before the look: another chain may be reversing now
		return err
	}
	missing, err := tx.Deposits().AnyReversed(ctx, id)
	if err != nil || missing {
		return err
	}
	_, err = tx.Halts().Lift(ctx, HaltAccount(id), HaltByReversal, "")
	return err
}

// RotateWebhookSecret moves the account to the next generation of its webhook secret; deliveries carry a signature by the
// one before as well until the overlap ends.
func (tx Accounts) RotateWebhookSecret(ctx context.Context, id bursar.ID, overlapEnds time.Time) (bursar.Account, error) {
	return one(ctx, tx.Tx, "rotate webhook secret", scanAccount, `UPDATE accounts SET webhook_generation = webhook_generation + 1,
		webhook_overlap = $2 WHERE id = $1 RETURNING `+accountColumns, id, micros(overlapEnds))
}

const keyColumns = `id, account_id, key_hash, secret_hash, hint, scopes, created_at, expires_at, revoked_at, networks`

func scanKey(s scanner) (k bursar.APIKey, err error) {
	var hash []byte
	var scopes string
	err = s.Scan(&k.ID, &k.AccountID, &hash, &k.SecretHash, &k.Hint, &scopes, instant{&k.CreatedAt}, instant{&k.ExpiresAt}, instant{&k.RevokedAt},
		networks{&k.Networks})
	copy(k.KeyHash[:], hash)
	k.Scopes = splitText[bursar.Scope](scopes)
	return k, err
}

// Insert adds an API key.
func (tx APIKeys) Insert(ctx context.Context, k bursar.APIKey) error {
	_, err := tx.exec(ctx, "insert key", `INSERT INTO api_keys(`+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		k.ID, k.AccountID, k.KeyHash[:], k.SecretHash, k.Hint, joinText(k.Scopes), micros(k.CreatedAt), micros(k.ExpiresAt), micros(k.RevokedAt),
		networksText(k.Networks))
	return err
}

// ByHash returns the key with that SHA-256, or ErrNotFound.
func (tx APIKeys) ByHash(ctx context.Context, hash [32]byte) (bursar.APIKey, error) {
	return one(ctx, tx.Tx, "read key", scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE key_hash = $1`, hash[:])
}

// Lock returns a key by its ID, or ErrNotFound, and keeps it unchanged until the transaction ends.
func (tx APIKeys) Lock(ctx context.Context, id bursar.ID) (bursar.APIKey, error) {
	return one(ctx, tx.Tx, "lock key", scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE id = $1`+tx.forUpdate(), id)
}

// SetRights changes what a key may do and where it may be used from, from now on.
func (tx APIKeys) SetRights(ctx context.Context, id bursar.ID, scopes []bursar.Scope, from []netip.Prefix) error {
	return tx.change(ctx, "set key rights", `UPDATE api_keys SET scopes = $2, networks = $3 WHERE id = $1`,
		id, joinText(scopes), networksText(from))
}

// List returns the keys of an account, or of all accounts for the zero ID, oldest first.
func (tx APIKeys) List(ctx context.Context, account bursar.ID) ([]bursar.APIKey, error) {
	if account.IsZero() {
		return rows(ctx, tx.Tx, "list keys", scanKey, `SELECT `+keyColumns+` FROM api_keys ORDER BY id`)
	}
	return rows(ctx, tx.Tx, "list keys", scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE account_id = $1 ORDER BY id`, account)
}

// Revoke makes a key useless from now on; revoking it again changes nothing.
func (tx APIKeys) Revoke(ctx context.Context, id bursar.ID) error {
	return tx.change(ctx, "revoke key", `UPDATE api_keys SET revoked_at = CASE WHEN revoked_at = 0 THEN $2 ELSE revoked_at END WHERE id = $1`, id, micros(tx.now))
}

// Expire ends a key at a time; a key that ends earlier is left alone.
func (tx APIKeys) Expire(ctx context.Context, id bursar.ID, at time.Time) error {
	return tx.change(ctx, "expire key", `UPDATE api_keys SET expires_at = CASE WHEN expires_at = 0 OR expires_at > $2 THEN $2 ELSE expires_at END WHERE id = $1`, id, micros(at))
}

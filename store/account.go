package store

import (
	"context"
	"net/netip"
	"time"

	"github.com/bursar/bursar"
)

var accountColumns = columnsOf([]column[bursar.Account]{
	{"id", func(a *bursar.Account) any { return &a.ID }},
	{"name", func(a *bursar.Account) any { return &a.Name }},
	{"created_at", func(a *bursar.Account) any { return instant{&a.CreatedAt} }},
	{"frozen", func(a *bursar.Account) any { return &a.Frozen }},
	{"webhook_generation", func(a *bursar.Account) any { return &a.WebhookGeneration }},
	{"webhook_overlap", func(a *bursar.Account) any { return instant{&a.WebhookOverlap} }},
	{"notify_pending", func(a *bursar.Account) any { return &a.NotifyPending }},
	{"notify_withdrawals", func(a *bursar.Account) any { return &a.NotifyWithdrawals }},
	{"webhook", func(a *bursar.Account) any { return &a.Webhook }},
})

// Insert adds an account with its first webhook secret generation.
func (tx Accounts) Insert(ctx context.Context, a bursar.Account) error {
	query, args := values{
		{"id", a.ID},
		{"name", a.Name},
		{"created_at", micros(a.CreatedAt)},
		{"webhook_generation", a.WebhookGeneration},
		{"notify_pending", a.NotifyPending},
		{"notify_withdrawals", a.NotifyWithdrawals},
		{"webhook", a.Webhook},
	}.insertInto("accounts")
	_, err := tx.exec(ctx, "insert account", query, args...)
	return err
}

// Get returns an account, or ErrNotFound.
func (tx Accounts) Get(ctx context.Context, id bursar.ID) (bursar.Account, error) {
	return accountColumns.one(ctx, tx.Tx, "read account", `FROM accounts WHERE id = $1`, id)
}

// Lock is Account, and keeps the account unchanged until the transaction ends.
func (tx Accounts) Lock(ctx context.Context, id bursar.ID) (bursar.Account, error) {
	return accountColumns.one(ctx, tx.Tx, "lock account", `FROM accounts WHERE id = $1`+tx.unchanged(), id)
}

// NotifiedOfPending returns those of some accounts that asked for events about deposits which are only seen.
func (tx Accounts) NotifiedOfPending(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bool, error) {
	notified := map[bursar.ID]bool{}
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "id", part)
		found, err := rows(ctx, tx.Tx, "look for accounts that are notified of pending deposits", scanOne[bursar.ID],
			`SELECT id FROM accounts WHERE notify_pending = TRUE AND `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			notified[id] = true
		}
	}
	return notified, nil
}

// LockAll returns accounts by their IDs and keeps them unchanged until the transaction ends. They are locked in the
// order of their IDs; the error is ErrNotFound where one is missing.
func (tx Accounts) LockAll(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.Account, error) {
	return tx.LockAllDeferred(ctx, ids).Get(ctx)
}

// unchanged keeps accounts as they are as forUpdate does, but for what names them, which never changes: adding a
// wallet, a key or a rule of fees to an account does not wait for its withdrawals, nor they for that (PostgreSQL 15,
// 13.3.2; a foreign key takes FOR KEY SHARE).
func (tx *Tx) unchanged() string {
	if lock := tx.forUpdate(); lock != "" {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

// LockAllDeferred is LockAll together with other reads.
func (tx Accounts) LockAllDeferred(ctx context.Context, ids []bursar.ID) *Deferred[map[bursar.ID]bursar.Account] {
	return tx.each(ctx, "lock accounts", ids, tx.unchanged())
}

// Each returns accounts by their IDs; the error is ErrNotFound where one is missing.
func (tx Accounts) Each(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.Account, error) {
	return tx.each(ctx, "read accounts", ids, "").Get(ctx)
}

func (tx Accounts) each(
	ctx context.Context, what string, ids []bursar.ID, lock string,
) *Deferred[map[bursar.ID]bursar.Account] {
	if len(ids) == 0 {
		return known(map[bursar.ID]bursar.Account{})
	}
	those, args := among(tx.Tx, "id", ids)
	return ask(ctx, tx.Tx, what, accountColumns.scan, func(list []bursar.Account) (map[bursar.ID]bursar.Account, error) {
		found := make(map[bursar.ID]bursar.Account, len(list))
		for _, a := range list {
			found[a.ID] = a
		}
		if len(found) < len(ids) {
			return nil, missing{what, args}
		}
		return found, nil
	}, accountColumns.query+`FROM accounts WHERE `+those+` ORDER BY id`+lock, args...)
}

// All returns every account, oldest first.
func (tx Accounts) All(ctx context.Context) ([]bursar.Account, error) {
	return accountColumns.rows(ctx, tx.Tx, "list accounts", `FROM accounts ORDER BY id`)
}

// Page returns accounts behind an ID in the order of their IDs, up to limit; only those that are named, if any are.
func (tx Accounts) Page(ctx context.Context, only []bursar.ID, after bursar.ID, limit int) ([]bursar.Account, error) {
	q := condition{args: []any{limit}}
	q.of(tx.Tx, "id", only)
	if !after.IsZero() {
		q.and(`id > $?`, after)
	}
	return accountColumns.rows(ctx, tx.Tx, "list accounts", `FROM accounts WHERE TRUE`+q.text+` ORDER BY id LIMIT $1`,
		q.args...)
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

// RotateWebhookSecret moves the account to the next generation of its webhook secret; deliveries carry a signature by
// the one before as well until the overlap ends.
func (tx Accounts) RotateWebhookSecret(ctx context.Context, id bursar.ID,
	overlapEnds time.Time) (bursar.Account, error) {
	return one(ctx, tx.Tx, "rotate webhook secret", accountColumns.scan,
		`UPDATE accounts SET webhook_generation = webhook_generation + 1, webhook_overlap = $2
		WHERE id = $1 RETURNING `+accountColumns.names, id, micros(overlapEnds))
}

var keyColumns = columnsOf([]column[bursar.APIKey]{
	{"id", func(k *bursar.APIKey) any { return &k.ID }},
	{"account_id", func(k *bursar.APIKey) any { return &k.AccountID }},
	{"key_hash", func(k *bursar.APIKey) any { return sha{&k.KeyHash} }},
	{"secret_hash", func(k *bursar.APIKey) any { return &k.SecretHash }},
	{"hint", func(k *bursar.APIKey) any { return &k.Hint }},
	{"scopes", func(k *bursar.APIKey) any { return texts[bursar.Scope]{&k.Scopes} }},
	{"created_at", func(k *bursar.APIKey) any { return instant{&k.CreatedAt} }},
	{"expires_at", func(k *bursar.APIKey) any { return instant{&k.ExpiresAt} }},
	{"revoked_at", func(k *bursar.APIKey) any { return instant{&k.RevokedAt} }},
	{"networks", func(k *bursar.APIKey) any { return networks{&k.Networks} }},
})

// Insert adds an API key.
func (tx APIKeys) Insert(ctx context.Context, k bursar.APIKey) error {
	query, args := values{
		{"id", k.ID},
		{"account_id", k.AccountID},
		{"key_hash", k.KeyHash[:]},
		{"secret_hash", k.SecretHash},
		{"hint", k.Hint},
		{"scopes", joinText(k.Scopes)},
		{"created_at", micros(k.CreatedAt)},
		{"expires_at", micros(k.ExpiresAt)},
		{"revoked_at", micros(k.RevokedAt)},
		{"networks", networksText(k.Networks)},
	}.insertInto("api_keys")
	_, err := tx.exec(ctx, "insert key", query, args...)
	return err
}

// ByHashes returns the keys with some of the given SHA-256, by hash, in one statement.
func (tx APIKeys) ByHashes(ctx context.Context, hashes [][32]byte) (map[[32]byte]bursar.APIKey, error) {
	texts := make([][]byte, len(hashes))
	for i := range hashes {
		texts[i] = hashes[i][:]
	}
	those, args := among(tx.Tx, "key_hash", texts)
	found := make(map[[32]byte]bursar.APIKey, len(hashes))
	keys, err := keyColumns.rows(ctx, tx.Tx, "read keys", `FROM api_keys WHERE `+those, args...)
	for _, k := range keys {
		found[k.KeyHash] = k
	}
	return found, err
}

// Lock returns a key by its ID, or ErrNotFound, and keeps it unchanged until the transaction ends.
func (tx APIKeys) Lock(ctx context.Context, id bursar.ID) (bursar.APIKey, error) {
	return keyColumns.one(ctx, tx.Tx, "lock key", `FROM api_keys WHERE id = $1`+tx.forUpdate(), id)
}

// SetRights changes what a key may do and where it may be used from, from now on.
func (tx APIKeys) SetRights(ctx context.Context, id bursar.ID, scopes []bursar.Scope, from []netip.Prefix) error {
	return tx.change(ctx, "set key rights", `UPDATE api_keys SET scopes = $2, networks = $3 WHERE id = $1`,
		id, joinText(scopes), networksText(from))
}

// List returns the keys of an account, or of all accounts for the zero ID, oldest first.
func (tx APIKeys) List(ctx context.Context, account bursar.ID) ([]bursar.APIKey, error) {
	if account.IsZero() {
		return keyColumns.rows(ctx, tx.Tx, "list keys", `FROM api_keys ORDER BY id`)
	}
	return keyColumns.rows(ctx, tx.Tx, "list keys", `FROM api_keys WHERE account_id = $1 ORDER BY id`, account)
}

// Revoke makes a key useless from now on; revoking it again changes nothing.
func (tx APIKeys) Revoke(ctx context.Context, id bursar.ID) error {
	return tx.change(ctx, "revoke key", `UPDATE api_keys
		SET revoked_at = CASE WHEN revoked_at = 0 THEN $2 ELSE revoked_at END WHERE id = $1`, id, micros(tx.now))
}

// Expire ends a key at a time; a key that ends earlier is left alone.
func (tx APIKeys) Expire(ctx context.Context, id bursar.ID, at time.Time) error {
	return tx.change(ctx, "expire key", `UPDATE api_keys SET
		expires_at = CASE WHEN expires_at = 0 OR expires_at > $2 THEN $2 ELSE expires_at END WHERE id = $1`, id, micros(at))
}

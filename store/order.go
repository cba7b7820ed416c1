package store

import (
	"context"

	"github.com/bursar/bursar"
)

var orderKeyColumns = columnsOf([]column[bursar.OrderKey]{
	{"account_id", func(k *bursar.OrderKey) any { return &k.AccountID }},
	{"key_id", func(k *bursar.OrderKey) any { return &k.ID }},
	{"name", func(k *bursar.OrderKey) any { return &k.Name }},
	{"public_key", func(k *bursar.OrderKey) any { return &k.Public }},
	{"created_at", func(k *bursar.OrderKey) any { return instant{&k.CreatedAt} }},
	{"usable_from", func(k *bursar.OrderKey) any { return instant{&k.UsableFrom} }},
	{"revoked_at", func(k *bursar.OrderKey) any { return instant{&k.RevokedAt} }},
})

// Insert records a key that the account never had.
func (tx OrderKeys) Insert(ctx context.Context, k bursar.OrderKey) error {
	query, args := values{
		{"account_id", k.AccountID},
		{"key_id", k.ID},
		{"name", k.Name},
		{"public_key", k.Public},
		{"created_at", micros(k.CreatedAt)},
		{"usable_from", micros(k.UsableFrom)},
	}.insertInto("order_keys")
	_, err := tx.exec(ctx, "insert an order key", query, args...)
	return err
}

// Revoke revokes a key of an account, or returns bursar.ErrNotFound if there is none that is not revoked.
func (tx OrderKeys) Revoke(ctx context.Context, account bursar.ID, id string) error {
	return tx.changeOr(ctx, "revoke an order key", bursar.ErrNotFound,
		`UPDATE order_keys SET revoked_at = $3 WHERE account_id = $1 AND key_id = $2 AND revoked_at = 0`, account, id,
		micros(tx.now))
}

// Of returns the keys that an account ever had, oldest first.
func (tx OrderKeys) Of(ctx context.Context, account bursar.ID) ([]bursar.OrderKey, error) {
	return orderKeyColumns.rows(ctx, tx.Tx, "list the keys of orders",
		`FROM order_keys WHERE account_id = $1 ORDER BY created_at, key_id`, account)
}

// Page returns keys of all accounts behind one, by account and key; from the first for the zero one.
func (tx OrderKeys) Page(ctx context.Context, after bursar.OrderKey, limit int) ([]bursar.OrderKey, error) {
	first := after.AccountID[:] // the zero account too, which is NULL as an ID
	return orderKeyColumns.rows(ctx, tx.Tx, "list the keys of orders of all", `FROM order_keys
		WHERE (account_id, key_id) > ($1, $2) ORDER BY account_id, key_id LIMIT $3`, first, after.ID, limit)
}

// OwnersDeferred returns, together with other reads, which of some accounts ever had a key.
func (tx OrderKeys) OwnersDeferred(ctx context.Context, accounts []bursar.ID) *Deferred[map[bursar.ID]bool] {
	those, args := among(tx.Tx, "account_id", accounts)
	return ask(ctx, tx.Tx, "find accounts with keys of orders", func(s scanner) (id bursar.ID, err error) {
		return id, s.Scan(&id)
	}, func(found []bursar.ID) (map[bursar.ID]bool, error) {
		owners := make(map[bursar.ID]bool, len(found))
		for _, id := range found {
			owners[id] = true
		}
		return owners, nil
	}, `SELECT DISTINCT account_id FROM order_keys WHERE `+those, args...)
}

var signedOrderColumns = columnsOf([]column[bursar.SignedOrder]{
	{"withdrawal_id", func(o *bursar.SignedOrder) any { return &o.WithdrawalID }},
	{"account_id", func(o *bursar.SignedOrder) any { return &o.AccountID }},
	{"order_id", func(o *bursar.SignedOrder) any { return &o.OrderID }},
	{"text", func(o *bursar.SignedOrder) any { return &o.Text }},
	{"signature", func(o *bursar.SignedOrder) any { return &o.Signature }},
	{"max_fee", func(o *bursar.SignedOrder) any { return &o.MaxFee }},
	{"expires_at", func(o *bursar.SignedOrder) any { return instant{&o.ExpiresAt} }},
})

// Insert records the order of a withdrawal that is recorded in the same transaction. Lock the account before.
func (tx SignedOrders) Insert(ctx context.Context, o bursar.SignedOrder) error {
	query, args := values{
		{"withdrawal_id", o.WithdrawalID},
		{"account_id", o.AccountID},
		{"order_id", o.OrderID},
		{"text", o.Text},
		{"signature", o.Signature},
		{"max_fee", o.MaxFee},
		{"expires_at", micros(o.ExpiresAt)},
	}.insertInto("signed_orders")
	_, err := tx.exec(ctx, "insert a signed order", query, args...)
	return err
}

// Find returns the order that an account gave an ID, or ErrNotFound.
func (tx SignedOrders) Find(ctx context.Context, account, order bursar.ID) (bursar.SignedOrder, error) {
	return signedOrderColumns.one(ctx, tx.Tx, "find a signed order",
		`FROM signed_orders WHERE account_id = $1 AND order_id = $2`, account, order)
}

// Of returns the orders of those of some withdrawals that a client signed, by withdrawal.
func (tx SignedOrders) Of(ctx context.Context, withdrawals ...bursar.ID) (map[bursar.ID]bursar.SignedOrder, error) {
	all := map[bursar.ID]bursar.SignedOrder{}
	for part := range parts(tx.Tx, withdrawals) {
		those, args := among(tx.Tx, "withdrawal_id", part)
		found, err := signedOrderColumns.rows(ctx, tx.Tx, "list signed orders", `FROM signed_orders WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			all[o.WithdrawalID] = o
		}
	}
	return all, nil
}

// PaidBy is Of the withdrawals that an outgoing transaction pays.
func (tx SignedOrders) PaidBy(ctx context.Context, outgoing bursar.ID) ([]bursar.SignedOrder, error) {
	return signedOrderColumns.rows(ctx, tx.Tx, "list the signed orders of an outgoing transaction", `FROM signed_orders
		WHERE withdrawal_id IN (SELECT id FROM withdrawals WHERE outgoing_id = $1)`, outgoing)
}

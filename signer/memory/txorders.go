package memory

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// OrderKeys implements Tx.
func (tx *sqlTx) OrderKeys(ctx context.Context, account bursar.ID) (list []OrderKey, err error) {
	where, args := `WHERE account = ?`, []any{account.String()}
	if account.IsZero() {
		where, args = ``, nil
	}
	err = tx.all(ctx, `SELECT account, id, public, name, usable_from, revoked_at FROM order_keys `+where+
		` ORDER BY number`,
		args, func(r rows) error {
			var k OrderKey
			var of string
			var from, revoked int64
			if err := r.Scan(&of, &k.ID, &k.Public, &k.Name, &from, &revoked); err != nil {
				return err
			}
			var err error
			k.Account, err = bursar.ParseID(of)
			k.From, k.Revoked = timeOf(from), timeOf(revoked)
			list = append(list, k)
			return err
		})
	return list, err
}

// AnyOrderKey implements Tx.
func (tx *sqlTx) AnyOrderKey(ctx context.Context) (has bool, err error) {
	_, err = tx.one(ctx, `SELECT EXISTS (SELECT 1 FROM order_keys)`, nil, &has)
	return has, err
}

// AddOrderKey implements Tx.
func (tx *sqlTx) AddOrderKey(ctx context.Context, k OrderKey) error {
	done, err := tx.exec(ctx, `INSERT INTO order_keys(account, id, public, name, usable_from, revoked_at)
		VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (account, id) DO UPDATE SET public = excluded.public, name = excluded.name,
		usable_from = excluded.usable_from WHERE order_keys.public = '' AND order_keys.revoked_at = 0`,
		k.Account.String(), k.ID, k.Public, k.Name, millis(k.From))
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("account %s has or had the key %s already", k.Account, k.ID)
	}
	return err
}

// RevokeOrderKey implements Tx.
func (tx *sqlTx) RevokeOrderKey(ctx context.Context, account bursar.ID, id string, at time.Time) error {
	done, err := tx.exec(ctx, `UPDATE order_keys SET revoked_at = ? WHERE account = ? AND id = ? AND revoked_at = 0`,
		millis(at), account.String(), id)
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("account %s has no key %s that is not revoked", account, id)
	}
	return err
}

// Ordered implements Tx.
func (tx *sqlTx) Ordered(ctx context.Context, account, id bursar.ID) (o Ordered, found bool, err error) {
	var digest []byte
	args := []any{account.String(), id.String()}
	found, err = tx.one(ctx, `SELECT digest FROM orders WHERE account = ? AND id = ?`, args, &digest)
	if err != nil || !found {
		return o, found, err
	}
	if len(digest) != sha256.Size {
		return o, true, fmt.Errorf("%w: order %s of account %s has no hash", ErrOtherSigner, id, account)
	}
	o.Text = Digest(digest)
	err = tx.all(ctx, `SELECT flow FROM order_flows WHERE account = ? AND id = ? ORDER BY flow`, args, func(r rows) error {
		var flow int64
		err := r.Scan(&flow)
		o.Flows = append(o.Flows, flow)
		return err
	})
	return o, true, err
}

// AddOrdered implements Tx.
func (tx *sqlTx) AddOrdered(ctx context.Context, account, id bursar.ID, text Digest, flow int64) error {
	_, err := tx.exec(ctx, `INSERT INTO orders(account, id, digest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		account.String(), id.String(), text[:])
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `INSERT INTO order_flows(account, id, flow) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		account.String(), id.String(), flow)
	return err
}

// Uses implements Tx.
func (tx *sqlTx) Uses(ctx context.Context, flow int64) (list []string, err error) {
	err = tx.all(ctx, `SELECT resource FROM resources WHERE flow = ? ORDER BY resource`, []any{flow}, func(r rows) error {
		var resource string
		err := r.Scan(&resource)
		list = append(list, resource)
		return err
	})
	return list, err
}

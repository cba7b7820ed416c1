package memory

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Policies implements Tx.
func (tx *sqlTx) Policies(ctx context.Context) (list []Policy, err error) {
	err = tx.all(ctx, `SELECT version, not_before, text, installed_at FROM policies ORDER BY version DESC`, nil,
		func(r rows) error {
			var p Policy
			var at, installed int64
			err := r.Scan(&p.Version, &at, &p.Text, &installed)
			p.NotBefore, p.Installed = timeOf(at), timeOf(installed)
			list = append(list, p)
			return err
		})
	return list, err
}

// AddPolicy implements Tx.
func (tx *sqlTx) AddPolicy(ctx context.Context, p Policy) error {
	_, err := tx.exec(ctx, `INSERT INTO policies(version, not_before, text, installed_at) VALUES (?, ?, ?, ?)`, p.Version,
		millis(p.NotBefore), p.Text, millis(p.Installed))
	return err
}

// Destinations implements Tx.
func (tx *sqlTx) Destinations(ctx context.Context, chain bursar.ChainID, base string) (list []Destination, err error) {
	where, args := `WHERE chain = ? AND base = ?`, []any{string(chain), base}
	if chain == "" && base == "" {
		where, args = ``, nil
	}
	err = tx.all(ctx, `SELECT nonce, chain, base, usable_from, usable_until, text FROM destinations `+where+` ORDER BY id`,
		args, func(r rows) error {
			var d Destination
			var from, until int64
			err := r.Scan(&d.Nonce, (*string)(&d.Chain), &d.Base, &from, &until, &d.Text)
			d.From, d.Until = timeOf(from), timeOf(until)
			list = append(list, d)
			return err
		})
	return list, err
}

// AddDestination implements Tx.
func (tx *sqlTx) AddDestination(ctx context.Context, d Destination) error {
	_, err := tx.exec(ctx, `INSERT INTO destinations(nonce, chain, base, usable_from, usable_until, text)
		VALUES (?, ?, ?, ?, ?, ?)`, d.Nonce, string(d.Chain), d.Base, millis(d.From), millis(d.Until), d.Text)
	return err
}

// RemoveDestination implements Tx.
func (tx *sqlTx) RemoveDestination(ctx context.Context, nonce string) error {
	_, err := tx.exec(ctx, `DELETE FROM destinations WHERE nonce = ?`, nonce)
	return err
}

// Nonce implements Tx.
func (tx *sqlTx) Nonce(ctx context.Context, nonce string) (flow int64, found bool, err error) {
	found, err = tx.one(ctx, `SELECT flow FROM nonces WHERE nonce = ?`, []any{nonce}, &flow)
	return flow, found, err
}

// AddNonce implements Tx.
func (tx *sqlTx) AddNonce(ctx context.Context, nonce string, flow int64) error {
	_, err := tx.exec(ctx, `INSERT INTO nonces(nonce, flow) VALUES (?, ?) ON CONFLICT (nonce) DO NOTHING`, nonce, flow)
	return err
}

// HeldSince implements Tx.
func (tx *sqlTx) HeldSince(ctx context.Context, order Digest, rule string) (time.Time, error) {
	var at int64
	_, err := tx.one(ctx, `SELECT since FROM held WHERE digest = ? AND rule = ?`, []any{order[:], rule}, &at)
	return timeOf(at), err
}

// AddHeld implements Tx.
func (tx *sqlTx) AddHeld(ctx context.Context, order Digest, rule string, at time.Time) error {
	_, err := tx.exec(ctx, `INSERT INTO held(digest, rule, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, order[:], rule,
		millis(at))
	return err
}

// Granted implements Tx.
func (tx *sqlTx) Granted(ctx context.Context, order Digest) (flows []int64, err error) {
	err = tx.all(ctx, `SELECT flow FROM grants WHERE digest = ? ORDER BY flow`, []any{order[:]}, func(r rows) error {
		var flow int64
		err := r.Scan(&flow)
		flows = append(flows, flow)
		return err
	})
	return flows, err
}

// AddGrant implements Tx.
func (tx *sqlTx) AddGrant(ctx context.Context, g Grant) error {
	_, err := tx.exec(ctx, `INSERT INTO grants(digest, flow, rule, worth, at, account) VALUES (?, ?, ?, ?, ?, ?)`,
		g.Order[:], g.Flow, g.Rule, g.Worth, millis(g.At), accountText(g.Account))
	if err != nil || g.Payment == 0 {
		return err
	}
	_, err = tx.exec(ctx, `INSERT INTO payments(digest, number) VALUES (?, ?)
		ON CONFLICT (digest) DO UPDATE SET number = max(number, excluded.number)`, g.Order[:], g.Payment)
	return err
}

// Payments implements Tx.
func (tx *sqlTx) Payments(ctx context.Context, order Digest) (n int64, err error) {
	_, err = tx.one(ctx, `SELECT number FROM payments WHERE digest = ?`, []any{order[:]}, &n)
	return n, err
}

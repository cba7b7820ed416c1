package memory

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// KnownPolicy implements Tx.
func (tx *sqlTx) KnownPolicy(ctx context.Context) (p KnownPolicy, err error) {
	_, err = tx.one(ctx, `SELECT version, hash FROM known_policy`, nil, &p.Version, &p.Hash)
	return p, err
}

// KnowPolicy implements Tx.
func (tx *sqlTx) KnowPolicy(ctx context.Context, p KnownPolicy) error {
	_, err := tx.exec(ctx, `INSERT INTO known_policy(one, version, hash) VALUES (1, ?, ?)
		ON CONFLICT (one) DO UPDATE SET version = excluded.version, hash = excluded.hash
		WHERE excluded.version > version`, p.Version, p.Hash)
	return err
}

// Removed implements Tx.
func (tx *sqlTx) Removed(ctx context.Context, chain bursar.ChainID, base string) (time.Time, error) {
	var at int64
	_, err := tx.one(ctx, `SELECT at FROM removed WHERE chain = ? AND base = ?`, []any{string(chain), base}, &at)
	return timeOf(at), err
}

// AddRemoved implements Tx.
func (tx *sqlTx) AddRemoved(ctx context.Context, chain bursar.ChainID, base string, at time.Time) error {
	_, err := tx.exec(ctx, `INSERT INTO removed(chain, base, at) VALUES (?, ?, ?)
		ON CONFLICT (chain, base) DO UPDATE SET at = max(at, excluded.at)`, string(chain), base, millis(at))
	return err
}

// Denials implements Tx.
func (tx *sqlTx) Denials(ctx context.Context, order Digest) (list []Denial, err error) {
	err = tx.all(ctx, `SELECT person, kind, at FROM denials WHERE digest = ? ORDER BY person, kind`,
		[]any{order[:]},
		func(r rows) error {
			var d Denial
			var at int64
			err := r.Scan(&d.Person, &d.With, &at)
			d.At = timeOf(at)
			list = append(list, d)
			return err
		})
	return list, err
}

// AddDenial implements Tx.
func (tx *sqlTx) AddDenial(ctx context.Context, order Digest, d Denial) error {
	_, err := tx.exec(ctx, `INSERT INTO denials(digest, person, kind, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (digest, person, kind) DO UPDATE SET at = max(at, excluded.at)`, order[:], d.Person, d.With, millis(d.At))
	return err
}

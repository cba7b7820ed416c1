package memory

import (
	"context"
	"time"
)

// Forget implements Tx. Without its digest the same transaction is evaluated again: it replaces itself where it uses up
// something, and otherwise counts once more. So nothing counts less for it.
func (tx *sqlTx) Forget(ctx context.Context, before time.Time, most int) (int, error) {
	type one struct {
		chain  string
		digest []byte
		flow   int64
	}
	var old []one
	err := tx.all(ctx, `SELECT chain, digest, flow FROM signed WHERE at < ? ORDER BY at LIMIT ?`,
		[]any{millis(before), most}, func(r rows) error {
			var o one
			err := r.Scan(&o.chain, &o.digest, &o.flow)
			old = append(old, o)
			return err
		})
	if err != nil {
		return 0, err
	}
	for _, o := range old {
		if _, err := tx.exec(ctx, `DELETE FROM signed WHERE chain = ? AND digest = ?`, o.chain, o.digest); err != nil {
			return 0, err
		}
		if err := tx.forgetFlow(ctx, o.flow, before); err != nil {
			return 0, err
		}
	}
	return len(old), nil
}

// forgetFlow removes a flow of which nothing is left that matters. The newest one stays, so that its number is not
// given to another.
func (tx *sqlTx) forgetFlow(ctx context.Context, flow int64, before time.Time) error {
	var idle bool
	_, err := tx.one(ctx, `SELECT NOT EXISTS (SELECT 1 FROM signed WHERE flow = ?1)
		AND NOT EXISTS (SELECT 1 FROM resources WHERE flow = ?1)
		AND NOT EXISTS (SELECT 1 FROM counts WHERE flow = ?1 AND at >= ?2)
		AND ?1 < (SELECT max(id) FROM flows)`, []any{flow, millis(before)}, &idle)
	if err != nil || !idle {
		return err
	}
	for _, query := range []string{`DELETE FROM counts WHERE flow = ?`, `DELETE FROM flows WHERE id = ?`} {
		if _, err := tx.exec(ctx, query, flow); err != nil {
			return err
		}
	}
	return nil
}

// Forget implements Tx. What ends with its process is not pruned.
func (m ramTx) Forget(context.Context, time.Time, int) (int, error) { return 0, nil }

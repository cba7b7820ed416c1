package memory

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Signed implements Tx.
func (tx *sqlTx) Signed(ctx context.Context, chain bursar.ChainID, digest Digest) (id int64, found bool, err error) {
	found, err = tx.one(ctx, `SELECT flow FROM signed WHERE chain = ? AND digest = ?`, []any{string(chain), digest[:]},
		&id)
	return id, found, err
}

// AddSigned implements Tx.
func (tx *sqlTx) AddSigned(
	ctx context.Context, flow int64, chain bursar.ChainID, digest Digest, at time.Time,
) error {
	_, err := tx.exec(ctx, `INSERT INTO signed(chain, digest, flow, at) VALUES (?, ?, ?, ?)`, string(chain), digest[:],
		flow,
		millis(at))
	return err
}

// SignedSince implements Tx.
func (tx *sqlTx) SignedSince(ctx context.Context, flow int64, at time.Time) (n int, err error) {
	_, err = tx.one(ctx, `SELECT count(*) FROM signed WHERE flow = ? AND at >= ?`, []any{flow, millis(at)}, &n)
	return n, err
}

// Sharing implements Tx.
func (tx *sqlTx) Sharing(ctx context.Context, chain bursar.ChainID, resources []string) (list []Flow, err error) {
	seen := map[int64]bool{}
	for _, resource := range resources {
		var ids []int64
		err := tx.all(ctx, `SELECT flow FROM resources WHERE chain = ? AND resource = ? ORDER BY flow`,
			[]any{string(chain), resource}, func(r rows) error {
				var id int64
				err := r.Scan(&id)
				ids = append(ids, id)
				return err
			})
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			f, err := tx.flow(ctx, id)
			if err != nil {
				return nil, err
			}
			list = append(list, f)
		}
	}
	sortFlows(list)
	return list, nil
}

func (tx *sqlTx) flow(ctx context.Context, id int64) (Flow, error) {
	f, chain, outgoing, at := Flow{ID: id}, "", "", int64(0)
	if _, err := tx.one(ctx, `SELECT chain, kind, outgoing, at, pays FROM flows WHERE id = ?`, []any{id}, &chain,
		&f.Kind, &outgoing, &at, &f.Pays); err != nil {
		return f, err
	}
	f.Chain, f.At = bursar.ChainID(chain), timeOf(at)
	var err error
	if f.Outgoing, err = bursar.ParseID(outgoing); err != nil {
		return f, err
	}
	err = tx.all(ctx, `SELECT resource FROM resources WHERE flow = ? ORDER BY resource`, []any{id}, func(r rows) error {
		var resource string
		err := r.Scan(&resource)
		f.Resources = append(f.Resources, resource)
		return err
	})
	if err != nil {
		return f, err
	}
	err = tx.all(ctx, `SELECT class, asset, units, at FROM counts WHERE flow = ? ORDER BY class, asset`, []any{id},
		func(r rows) error {
			c, err := scanCount(r)
			f.Counts = append(f.Counts, c)
			return err
		})
	return f, err
}

// scanCount reads class, asset, units and time; before takes the columns in front of them.
func scanCount(r rows, before ...any) (c Count, err error) {
	var class string
	var at int64
	err = r.Scan(append(before, &class, &c.Asset, &c.Units, &at)...)
	c.Class, c.At = Class(class), timeOf(at)
	return c, err
}

// AddFlow implements Tx.
func (tx *sqlTx) AddFlow(ctx context.Context, f Flow) (id int64, err error) {
	done, err := tx.exec(ctx, `INSERT INTO flows(chain, kind, outgoing, at, pays) VALUES (?, ?, ?, ?, ?)`,
		string(f.Chain), f.Kind, f.Outgoing.String(), millis(f.At), f.Pays)
	if err != nil {
		return 0, err
	}
	if f.ID, err = done.LastInsertId(); err != nil {
		return 0, err
	}
	return f.ID, tx.fill(ctx, f)
}

// UpdateFlow implements Tx.
func (tx *sqlTx) UpdateFlow(ctx context.Context, f Flow) error {
	for _, query := range []string{`DELETE FROM resources WHERE flow = ?`, `DELETE FROM counts WHERE flow = ?`} {
		if _, err := tx.exec(ctx, query, f.ID); err != nil {
			return err
		}
	}
	return tx.fill(ctx, f)
}

func (tx *sqlTx) fill(ctx context.Context, f Flow) error {
	for _, resource := range f.Resources {
		_, err := tx.exec(ctx, `INSERT INTO resources(chain, resource, flow) VALUES (?, ?, ?)`, string(f.Chain), resource,
			f.ID)
		if err != nil {
			return err
		}
	}
	for _, c := range f.Counts {
		_, err := tx.exec(ctx, `INSERT INTO counts(flow, class, asset, units, at) VALUES (?, ?, ?, ?, ?)`, f.ID,
			string(c.Class), c.Asset, c.Units, millis(c.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// CountsSince implements Tx.
func (tx *sqlTx) CountsSince(ctx context.Context, at time.Time) (list []FlowCount, err error) {
	err = tx.all(ctx, `SELECT counts.flow, flows.chain, counts.class, counts.asset, counts.units, counts.at
		FROM counts JOIN flows ON flows.id = counts.flow WHERE counts.at >= ? ORDER BY counts.at, counts.flow`,
		[]any{millis(at)}, func(r rows) error {
			var one FlowCount
			var chain string
			var err error
			one.Count, err = scanCount(r, &one.Flow, &chain)
			one.Chain = bursar.ChainID(chain)
			list = append(list, one)
			return err
		})
	return list, err
}

// datedBack lets what counts from a later time on count from a time on, and returns how many counts that were. Holds
// that began later begin then. Until when a destination is held stays: that may be as it was signed.
func (tx *sqlTx) datedBack(ctx context.Context, at time.Time) (int64, error) {
	for _, query := range []string{`UPDATE grants SET at = ? WHERE at > ?`, `UPDATE held SET since = ? WHERE since > ?`,
		`UPDATE rule_fees SET at = ? WHERE at > ?`, `UPDATE signed SET at = ? WHERE at > ?`} {
		if _, err := tx.exec(ctx, query, millis(at), millis(at)); err != nil {
			return 0, err
		}
	}
	done, err := tx.exec(ctx, `UPDATE counts SET at = ? WHERE at > ?`, millis(at), millis(at))
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

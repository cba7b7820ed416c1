package store

import (
	"context"
	"maps"
	"slices"
)

// Ask lets a test ask the database about itself.
func (tx *Tx) Ask(ctx context.Context, dest any, query string, args ...any) error {
	return tx.row(ctx, "ask", query, args, dest)
}

// Run lets a test run a statement of its own.
func (tx *Tx) Run(ctx context.Context, query string, args ...any) error {
	_, err := tx.exec(ctx, "run", query, args...)
	return err
}

// Later lets a test have a statement run whose result nobody waits for.
func (tx *Tx) Later(ctx context.Context, what, query string, args ...any) error {
	return tx.later(ctx, pipelined{what: what, query: query, args: args})
}

// Waiting returns how many look-ups wait for a statement.
func (g *Gather[K, V]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}

// RowsRead lets a test count the rows of a table that PostgreSQL reads: the difference of two calls within one
// transaction. A single figure says nothing, because what earlier transactions of the connection read is in it for up
// to a second (PostgreSQL 15, pgstat_report_stat: it reports when no transaction runs, at most once a second).
func (tx *Tx) RowsRead(ctx context.Context, table string) (read int, err error) {
	return read, tx.Ask(ctx, &read, `SELECT COALESCE(SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)), 0)::bigint
		FROM pg_stat_xact_user_tables WHERE relname = $1`, table)
}

// TablesWithRights lists the tables of which it is said what the service may do with them.
func TablesWithRights() []string { return slices.Sorted(maps.Keys(rights)) }

// MigrateTo gives an empty PostgreSQL database an older schema.
func MigrateTo(ctx context.Context, databaseURL string, version int64) error {
	db, err := OpenAsIs(databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	provider, err := db.migrator()
	if err == nil {
		_, err = provider.UpTo(ctx, version)
	}
	return err
}

// GrantAsIs gives a role its rights to a database of an older schema.
func GrantAsIs(ctx context.Context, databaseURL string, role Role) error {
	db, err := OpenAsIs(databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Grant(ctx, role)
}

// SealForgottenEarlier lets a test write a row about a forgotten payment as an earlier release sealed it.
func (tx *Tx) SealForgottenEarlier(f ForgottenPayment) []byte { return tx.seal.sealForgottenEarlier(f) }

package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Identity says which copy of a database this is. A promoted PostgreSQL standby keeps the system identifier of its
// primary and begins a new timeline; a cluster that was restored to a point in time begins one too; one that was
// loaded from a dump has another system identifier. A copied SQLite file looks like its original: only its counters
// distinguish them.
type Identity struct {
	System   string `json:"system,omitempty"`   // of a PostgreSQL cluster; empty on SQLite
	Timeline string `json:"timeline,omitempty"` // eight hexadecimal digits; empty on SQLite
	Database string `json:"database,omitempty"` // a random name that the database was given once; empty before that
}

// settingInstance is the setting that holds the random name of a database.
const settingInstance = "instance"

// Identity reads which copy of the database answers now. It is asked of the server and never remembered: after a
// failover another one answers.
func (db *DB) Identity(ctx context.Context) (id Identity, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		id, err = tx.Settings().Identity(ctx)
		return err
	})
	return id, err
}

// Identity is DB.Identity within a transaction.
func (tx Settings) Identity(ctx context.Context) (Identity, error) {
	return tx.IdentityDeferred(ctx).Get(ctx)
}

// IdentityDeferred is Identity, beside other statements.
func (tx Settings) IdentityDeferred(ctx context.Context) *Deferred[Identity] {
	query := `SELECT COALESCE((SELECT value FROM settings WHERE name = $1), ''), `
	if tx.postgres {
		// The name of the file that is written now begins with the timeline. pg_control_checkpoint would name the timeline
		// of the last checkpoint, which a promotion does not wait for (PostgreSQL 15, xlog.c, StartupXLOG).
		query += `CAST(system_identifier AS TEXT), substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
		FROM pg_control_system()`
	} else {
		query += `'', ''`
	}
	return ask(ctx, tx.Tx, "read the database's identity", func(s scanner) (id Identity, err error) {
		return id, s.Scan(&id.Database, &id.System, &id.Timeline)
	}, func(list []Identity) (Identity, error) {
		if len(list) != 1 {
			return Identity{}, fmt.Errorf("the database has %d identities", len(list))
		}
		return list[0], nil
	}, query, settingInstance)
}

// NameDatabase gives the database a random name, unless it has one.
func (tx Settings) NameDatabase(ctx context.Context, name string) error {
	_, err := tx.exec(ctx, "name the database",
		`INSERT INTO settings(name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, settingInstance, name)
	return err
}

// ErrStandby is returned for a PostgreSQL server that only reads: a standby, or one that is being demoted.
var ErrStandby = errors.New("the PostgreSQL server takes no writes: it is a standby or read-only")

// enlist makes a new connection one that commits what it says it commits: it refuses a server that takes no writes,
// so that the next host of the URL is tried, and raises synchronous_commit to on where the server, the role or the
// URL has less. A stronger setting, remote_apply, stays.
func enlist(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, `SELECT
		CASE WHEN pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' THEN 'standby' ELSE '' END,
		set_config('synchronous_commit',
			CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)`).ReadAll()
	if err != nil {
		return fmt.Errorf("prepare a connection: %w", err)
	}
	if len(results) == 1 && len(results[0].Rows) == 1 && string(results[0].Rows[0][0]) == "" {
		return nil
	}
	return ErrStandby
}

// primaryOnly has every connection of a pool checked by enlist, whatever target_session_attrs the URL names.
func primaryOnly(config *pgx.ConnConfig) { config.ValidateConnect = enlist }

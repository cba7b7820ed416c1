package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// SQLiteFile returns the path that a database URL names, and whether it is one of SQLite.
func SQLiteFile(databaseURL string) (path string, sqlite bool) {
	path, sqlite = strings.CutPrefix(databaseURL, "sqlite:")
	return strings.TrimPrefix(path, "//"), sqlite
}

// sqliteSource is what the driver opens: the file as it is, never made where there is none.
func sqliteSource(file string, options url.Values) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + options.Encode()
}

// CopySQLite writes one consistent state of a SQLite database into a file that must be empty or not there. Anyone who
// writes to the database goes on doing so: the copy reads what was committed when it began, and the log grows by what
// is written meanwhile. The schema stays as it is, the copy is compact and has no log beside it. It is not synced to
// the disk.
func CopySQLite(ctx context.Context, from, to string) error {
	// query_only would forbid the copy itself. VACUUM INTO writes nothing but its target (SQLite 3.27 and later,
	// lang_vacuum).
	db, err := sql.Open("sqlite", sqliteSource(from, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(30000)"}}))
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, to); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return nil
}

// OpenCopy opens a SQLite file that nobody writes to, without writing to it or beside it, whatever its schema is.
func OpenCopy(file string) (*DB, error) {
	read, err := sql.Open("sqlite", sqliteSource(file, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return nil, fmt.Errorf("open the copy: %w", err)
	}
	read.SetMaxOpenConns(1)
	return asIs(read), nil
}

// OpenAsIs opens a PostgreSQL database whatever its schema is, and lets it take its time.
func OpenAsIs(databaseURL string) (*DB, error) {
	db, err := openPostgres(Config{URL: databaseURL, Conns: 4}, true)
	if err == nil {
		db.now, db.hooks = time.Now, Hooks{}.withDefaults()
	}
	return db, err
}

// asIs is a pool of connections to a SQLite file whose schema stays as it is.
func asIs(pool *sql.DB) *DB {
	return &DB{write: pool, read: pool, now: time.Now, hooks: Hooks{}.withDefaults()}
}

// MarkRestored notes in a closed SQLite file that it was restored, and leaves no log beside it.
func MarkRestored(ctx context.Context, file, text string) error {
	options := url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"journal_mode(DELETE)", "synchronous(FULL)"},
	}
	raw, err := sql.Open("sqlite", sqliteSource(file, options))
	if err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	raw.SetMaxOpenConns(1)
	db := asIs(raw)
	return errors.Join(db.Do(ctx, func(tx *Tx) error { return tx.Settings().SetRestored(ctx, text) }), raw.Close())
}

// settingRestored is the setting that says when this database was restored, until that has been dealt with.
const settingRestored = "restored"

// SetRestored notes that the database was restored, and when; "" once its recovery has ended.
func (tx Settings) SetRestored(ctx context.Context, text string) error {
	return tx.set(ctx, "note that the database was restored", settingRestored, text)
}

// Restored says when the database was restored by `bursar restore`, or "" where that was never so or has been dealt
// with.
func (tx Settings) Restored(ctx context.Context) (string, error) { return tx.Get(ctx, settingRestored) }

// Empty reports whether a database holds none of the service's tables.
func (db *DB) Empty(ctx context.Context) (empty bool, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		var tables int
		query := `SELECT count(*) FROM sqlite_master WHERE name = 'settings'`
		if tx.postgres {
			query = `SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
		}
		err := tx.row(ctx, "look for tables", query, nil, &tables)
		empty = tables == 0
		return err
	})
	return empty, err
}

// heights returns how far every chain was followed.
func (tx *Tx) heights(ctx context.Context) (map[bursar.ChainID]int64, error) {
	heights := map[bursar.ChainID]int64{}
	_, err := rows(ctx, tx, "read the chains' heights", func(s scanner) (none struct{}, err error) {
		var chain bursar.ChainID
		var height int64
		err = s.Scan(&chain, &height)
		heights[chain] = height
		return none, err
	}, `SELECT chain, height FROM chains`)
	return heights, err
}

// ReadPins returns the seed and network that a SQLite database belongs to, whatever its schema is. Its log is brought
// into the file where nobody else has it open.
func ReadPins(ctx context.Context, file string) (c Contents, err error) {
	raw, err := sql.Open("sqlite", sqliteSource(file, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)"}}))
	if err != nil {
		return c, fmt.Errorf("open the database: %w", err)
	}
	db := asIs(raw)
	err = db.View(ctx, func(tx *Tx) error {
		if c.Seed, err = tx.Settings().Get(ctx, "seed"); err == nil {
			c.Network, err = tx.Settings().Get(ctx, "network")
		}
		return err
	})
	return c, errors.Join(err, raw.Close())
}

// Package store keeps the service's objects in SQLite or PostgreSQL, and is the only place with SQL: both databases run
// the same statements and behave alike, which storetest checks. In most queries of more than a few columns each is
// named beside the field that it is read into (columns) or the value that is written into it (values).
//
// It owns transactions, their retries and the batching of small writes. It never talks to a node or a receiver and
// decides nothing about money beyond what ledger allows. Its invariants: every change happens inside a transaction
// handed out by Do; an entry is posted once; a reservation has one owner; a status only changes along its transition
// table.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	sqlite "modernc.org/sqlite"
)

// DB is an open database, safe for concurrent use by any number of goroutines and, on PostgreSQL, processes.
type DB struct {
	witness  func(ctx context.Context, tx *Tx) error // nil: none
	rehearse error                                   // why no transaction that wrote something commits; nil: they do
	write    *sql.DB
	read     *sql.DB
	postgres bool
	now      func() time.Time
	hooks    Hooks
	seal     sealKey
	epoch    uint32 // of the keys of this process
}

// InEpoch says in which epoch of the seed the keys of this process are, 0 if it is never called. It is called before
// any lease is taken.
func (db *DB) InEpoch(e uint32) { db.epoch = e }

// Config says which database to open.
type Config struct {
	URL   string           // "sqlite:<file>" or "postgres://…"
	Now   func() time.Time // nil: the system's clock
	Conns int              // most connections to PostgreSQL; 0: 16
	AsIs  bool             // a schema that is older than the program is refused with ErrSchemaOld, not brought up to date

	Hooks Hooks  // the zero value: as the Go runtime does it
	Spare *Spare // for tests: where connections come from, and go to when the database is closed; nil: nowhere
}

// ErrBadURL is returned for a database URL of an unknown form.
var ErrBadURL = errors.New("the database URL must be sqlite:<file> or postgres://user@host/name")

// Open opens the database and brings its schema up to date, creating the SQLite file where there is none.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db, err := connect(cfg)
	if err != nil {
		return nil, err
	}
	if db.now = cfg.Now; db.now == nil {
		db.now = time.Now
	}
	db.hooks = cfg.Hooks.withDefaults()
	if cfg.Spare.knows(cfg.URL) {
		return db, nil
	}
	if err := db.prepare(ctx, cfg); err != nil {
		db.Close()
		return nil, fmt.Errorf("migrate the database: %w", err)
	}
	cfg.Spare.note(cfg.URL)
	return db, nil
}

func connect(cfg Config) (*DB, error) {
	if file, ok := strings.CutPrefix(cfg.URL, "sqlite:"); ok && file != "" {
		return openSQLite(strings.TrimPrefix(file, "//"), cfg.Spare)
	}
	if strings.HasPrefix(cfg.URL, "postgres://") || strings.HasPrefix(cfg.URL, "postgresql://") {
		return openPostgres(cfg, false)
	}
	return nil, ErrBadURL
}

// openSQLite opens the file twice: one connection that writes, because SQLite has one writer at a time and a queue in
// Go is fairer and faster than its busy loop, and a few that read beside it. Every commit is synced to the disk.
func openSQLite(file string, spare *Spare) (*DB, error) {
	pragmas := url.Values{"_pragma": {
		"busy_timeout(30000)",
		"journal_mode(WAL)",
		"synchronous(FULL)",
		"foreign_keys(1)",
		"cache_size(-65536)",
	}}
	source := "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + pragmas.Encode()
	write, err := openCached(source+"&_txlock=immediate", file, spare)
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := openCached(source, "", spare)
	if err != nil {
		write.Close()
		return nil, err
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	return &DB{write: write, read: read}, nil
}

// openCached opens a pool, writes being the file if its connections write.
func openCached(source, writes string, spare *Spare) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(source)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return sql.OpenDB(spare.connector(source, cachedConnector{Connector: connector, file: writes})), nil
}

// openPostgres opens a pool of connections to a server that takes writes. Unhurried ones may wait for ever.
func openPostgres(cfg Config, unhurried bool) (*DB, error) {
	config, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("%w (it could not be parsed)", ErrBadURL) // the cause repeats the URL with its password
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "bursar"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWithin
	}
	primaryOnly(config)
	if !unhurried {
		patient(config)
	}
	pool := sql.OpenDB(cfg.Spare.connector(cfg.URL, stdlib.GetConnector(*config, stdlib.OptionShouldPing(aliveStill))))
	conns := cfg.Conns
	if conns == 0 {
		conns = 16
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return &DB{write: pool, read: pool, postgres: true}, nil
}

// Close waits for what is under way and closes the database.
func (db *DB) Close() error {
	err := db.write.Close()
	if db.read != db.write {
		err = errors.Join(err, db.read.Close())
	}
	return err
}

// Postgres reports which of the two databases this is, for status pages.
func (db *DB) Postgres() bool { return db.postgres }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.read.PingContext(ctx) }

// Now returns the clock's time in UTC, cut to the microseconds that the database keeps.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

package store

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrSchemaOld is returned by Open where the schema is older than the program, and is to stay as it is.
var ErrSchemaOld = errors.New("the schema of the database is older than this program: run bursar migrate first")

// prepare brings the schema up to date, or refuses one that is not: with ErrNewer one of a later version, in which this
// one does not know what the rows mean.
func (db *DB) prepare(ctx context.Context, cfg Config) error {
	if !cfg.AsIs {
		return db.migrate(ctx, cfg.URL)
	}
	provider, err := db.migrator()
	if err != nil {
		return err
	}
	old, err := provider.HasPending(ctx)
	if err == nil && old {
		err = ErrSchemaOld
	}
	return cmp.Or(err, notNewer(ctx, provider))
}

// notNewer returns ErrNewer for a database that a later version has migrated. It creates goose's own table where there
// is none.
func notNewer(ctx context.Context, provider *goose.Provider) error {
	is, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	known, err := newestMigration()
	if err == nil && is > known {
		err = fmt.Errorf("%w: its schema is %d, this version's %d", ErrNewer, is, known)
	}
	return err
}

// migrate brings the schema up to date. Several replicas may start at once: on PostgreSQL they take turns by an
// advisory lock, on SQLite by its one writer.
func (db *DB) migrate(ctx context.Context, databaseURL string) error {
	if db.postgres { // which may take longer than any other statement
		var err error
		if db, err = OpenAsIs(databaseURL); err != nil {
			return err
		}
		defer db.Close()
	}
	if db.postgres {
		unlock, err := db.lockMigrations(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}
	provider, err := db.migrator()
	if err != nil {
		return err
	}
	if err := notNewer(ctx, provider); err != nil {
		return db.refusedSchema(ctx, err)
	}
	applied, err := provider.Up(ctx)
	for _, m := range applied {
		if err == nil && m.Source.Version == haltsEverywhere {
			err = db.Do(ctx, func(tx *Tx) error { return tx.adoptFreezes(ctx) })
		}
	}
	if err == nil && len(applied) > 0 && db.postgres {
		err = db.Do(ctx, func(tx *Tx) error { return tx.grantAgain(ctx) })
	}
	return db.refusedSchema(ctx, err)
}

// migrator runs the migrations on this database.
func (db *DB) migrator() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if db.postgres {
		return goose.NewProvider(goose.DialectPostgres, db.write, files)
	}
	return goose.NewProvider(goose.DialectSQLite3, db.write, sqliteText{files})
}

// lockMigrations waits until no other process migrates. It asks again and again: a statement that waited for the lock
// would hold a snapshot, and an index that is built concurrently waits for all older ones, so that neither would end.
func (db *DB) lockMigrations(ctx context.Context) (unlock func(), err error) {
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for locked := false; !locked; {
		err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, migrationLock).Scan(&locked)
		if err == nil && !locked && !sleepFor(ctx, migrationPoll) {
			err = ctx.Err()
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return func() {
		// The lock ends with its session at the latest.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock)
		_ = conn.Close()
	}, nil
}

const migrationPoll = 100 * time.Millisecond

// haltsEverywhere is the migration that made freezes halts. An account's id has no text that both databases know, so
// that what was frozen is written by adoptFreezes.
const haltsEverywhere = 11

// migrationLock is an arbitrary number that only this service's migrations lock.
const migrationLock int64 = 0x627572736172

// sqliteText serves the migrations with the one word that the two databases spell differently, and without the one that
// SQLite, which has one writer, does not know.
type sqliteText struct{ fs.FS }

func (t sqliteText) Open(name string) (fs.File, error) {
	file, err := t.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return &textFile{
		Reader: strings.NewReader(strings.NewReplacer("BIGSERIAL PRIMARY KEY", "INTEGER PRIMARY KEY",
			" CONCURRENTLY", "").Replace(string(text))),
		name: name,
	}, nil
}

type textFile struct {
	*strings.Reader
	name string
}

func (f *textFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *textFile) Close() error               { return nil }
func (f *textFile) Name() string               { return f.name }
func (f *textFile) Mode() fs.FileMode          { return 0o444 }
func (f *textFile) ModTime() time.Time         { return time.Time{} }
func (f *textFile) IsDir() bool                { return false }
func (f *textFile) Sys() any                   { return nil }

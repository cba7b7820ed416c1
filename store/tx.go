package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Tx is one database transaction. Its methods stand in one file for each noun.
type Tx struct {
	tx       statements
	postgres bool
	reads    bool // it is a View of PostgreSQL, which refuses whatever writes or locks
	now      time.Time
	before   func(ctx context.Context, at Point, what string) error
	after    []func()
	failed   error // of the first statement that failed: nothing of the transaction may be committed
	seal     sealKey
	sealing  sealing
	kept     []keptNow
}

// statements runs statements: a transaction of database/sql, or its pool for a Read.
type statements interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// fail notes that a statement has failed, and returns why. A caller that passes the error over still commits nothing:
// a state that lacks what one statement should have written is never the state of the books.
func (tx *Tx) fail(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	if tx.failed == nil {
		tx.failed = err
	}
	return err
}

// Now is the time of the transaction's start, the same for all it writes.
func (tx *Tx) Now() time.Time { return tx.now }

// After has f run once the transaction is committed, after those that were given before. It does not run when the
// transaction is undone or has lost to another one: what is logged so has happened, and has happened once.
func (tx *Tx) After(f func()) { tx.after = append(tx.after, f) }

// maxRetries bounds how often a transaction that lost to another one is run again.
const maxRetries = 10

// Do runs f in a transaction and commits it when f returns nil; any error of f undoes everything and is returned as it
// is. f may run more than once, when the database says that it lost to a concurrent transaction, so it must have no
// effect besides what it writes through tx.
func (db *DB) Do(ctx context.Context, f func(tx *Tx) error) error {
	var err error
	for try := range maxRetries {
		if err = db.once(ctx, db.write, nil, f); !lostRace(err) {
			return err
		}
		if !db.pause(ctx, try) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("gave up after %d tries: %w", maxRetries, err)
}

// View runs f in a transaction that reads one consistent state and writes nothing.
func (db *DB) View(ctx context.Context, f func(tx *Tx) error) error {
	return db.once(ctx, db.read, &sql.TxOptions{ReadOnly: db.postgres, Isolation: db.viewLevel()}, f)
}

// The errors of a Read that makes two statements, which would see two states, or that writes.
var (
	errSecondStatement = errors.New("a Read makes one statement")
	errReadWrites      = errors.New("a Read writes nothing")
)

// Read runs f, which makes one statement that writes nothing: what that sees is consistent without a transaction, which
// on PostgreSQL costs two more ways to the server and back. A second statement fails.
func (db *DB) Read(ctx context.Context, f func(tx *Tx) error) error {
	if err := db.conduct.Before(ctx, Beginning, ""); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = db.conduct.Before(ctx, Ended, "") }()
	made := false
	tx := &Tx{
		tx:       db.read,
		postgres: db.postgres,
		reads:    db.postgres,
		now:      db.Now(),
		before: func(ctx context.Context, at Point, what string) error {
			if made {
				return errSecondStatement
			}
			if !strings.HasPrefix(what, "SELECT ") {
				return errReadWrites
			}
			made = true
			return db.conduct.Before(ctx, at, what)
		},
		seal: db.seal,
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.failed
}

func (db *DB) viewLevel() sql.IsolationLevel {
	if db.postgres {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault
}

func (db *DB) once(ctx context.Context, pool *sql.DB, opts *sql.TxOptions, f func(tx *Tx) error) error {
	if err := db.conduct.Before(ctx, Beginning, ""); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = db.conduct.Before(ctx, Ended, "") }()
	raw, err := pool.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer raw.Rollback() // after a commit this does nothing; it also runs when f panics
	tx := &Tx{
		tx:       raw,
		postgres: db.postgres,
		reads:    opts != nil && opts.ReadOnly,
		now:      db.Now(),
		before:   db.conduct.Before,
		seal:     db.seal,
	}
	if err := f(tx); err != nil {
		return err
	}
	if tx.failed != nil {
		return tx.failed
	}
	if err := tx.keepAnswers(ctx); err != nil {
		return err
	}
	if err := tx.link(ctx); err != nil {
		return err
	}
	if err := db.commit(ctx, raw); err != nil {
		return fmt.Errorf("%w: %w", ErrCommit, err)
	}
	for _, f := range tx.after {
		f()
	}
	return nil
}

// ErrCommit is returned where a commit failed. The changes may stand all the same: when the connection broke, the
// server's answer is what was lost.
var ErrCommit = errors.New("commit")

// lostRace reports a serialization failure or a deadlock, after which the same transaction may succeed.
func lostRace(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// pause waits a little longer after each try, with jitter, and reports whether the context is still alive.
func (db *DB) pause(ctx context.Context, try int) bool {
	limit := time.Millisecond << min(try, 7)
	return db.conduct.Sleep(ctx, time.Duration(db.conduct.Random(int64(limit)))+time.Millisecond)
}

func (db *DB) commit(ctx context.Context, raw *sql.Tx) error {
	if err := db.conduct.Before(ctx, Committing, ""); err != nil {
		return err
	}
	if err := raw.Commit(); err != nil {
		return err
	}
	return db.conduct.Before(ctx, Committed, "")
}

// forUpdate locks the rows a query reads until the transaction ends. On SQLite the transaction holds the only write
// lock. A View locks nothing: PostgreSQL refuses that in a transaction that only reads.
func (tx *Tx) forUpdate() string {
	if tx.postgres && !tx.reads {
		return " FOR UPDATE"
	}
	return ""
}

// skipLocked is forUpdate for a queue: rows that another transaction holds are left to it.
func (tx *Tx) skipLocked() string {
	if tx.postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

func (tx *Tx) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	if err := tx.before(ctx, Running, query); err != nil {
		return 0, tx.fail(what, err)
	}
	result, err := tx.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, tx.fail(what, err)
	}
	return result.RowsAffected()
}

// change is exec for a statement that must meet exactly one row; none is ErrNotFound.
func (tx *Tx) change(ctx context.Context, what, query string, args ...any) error {
	return tx.changeOr(ctx, what, missing{what, args}, query, args...)
}

// changeOr is change with another error for no row.
func (tx *Tx) changeOr(ctx context.Context, what string, errNone error, query string, args ...any) error {
	n, err := tx.exec(ctx, what, query, args...)
	if err == nil && n == 0 {
		return errNone
	}
	return err
}

// row scans the one row of a query; no row is ErrNotFound.
func (tx *Tx) row(ctx context.Context, what, query string, args []any, dest ...any) error {
	if err := tx.before(ctx, Running, query); err != nil {
		return tx.fail(what, err)
	}
	err := tx.tx.QueryRowContext(ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing{what, args}
	}
	if err != nil {
		return tx.fail(what, err)
	}
	return nil
}

func (tx *Tx) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := tx.before(ctx, Running, query); err != nil {
		return nil, err
	}
	return tx.tx.QueryContext(ctx, query, args...)
}

func (tx *Tx) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := tx.before(ctx, Running, query); err != nil {
		return nil, err
	}
	return tx.tx.PrepareContext(ctx, query)
}

// scanner is a row as database/sql gives it.
type scanner interface{ Scan(dest ...any) error }

func rows[T any](ctx context.Context, tx *Tx, what string, scan func(scanner) (T, error), query string,
	args ...any) ([]T, error) {
	found, err := tx.query(ctx, query, args...)
	if err != nil {
		return nil, tx.fail(what, err)
	}
	defer found.Close()
	var list []T
	for found.Next() {
		item, err := scan(found)
		if err != nil {
			return nil, tx.fail(what, err)
		}
		list = append(list, item)
	}
	if err := found.Err(); err != nil {
		return nil, tx.fail(what, err)
	}
	return list, nil
}

func one[T any](ctx context.Context, tx *Tx, what string, scan func(scanner) (T, error), query string,
	args ...any) (T, error) {
	var item T
	err := tx.before(ctx, Running, query)
	if err == nil {
		item, err = scan(tx.tx.QueryRowContext(ctx, query, args...))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return item, missing{what, args}
	}
	if err != nil {
		return item, tx.fail(what, err)
	}
	return item, nil
}

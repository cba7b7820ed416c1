package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// session runs the statements of one transaction, or the one statement of a Read.
type session interface {
	// exec runs a statement and returns how many rows it changed.
	exec(ctx context.Context, query string, args []any) (int64, error)
	// query runs a statement that returns rows. They have to be closed before the next statement.
	query(ctx context.Context, query string, args []any) (cursor, error)
	// later runs a statement before the next one whose result is needed, and before the commit at the latest. Its error is
	// returned, wrapped in earlier, to the next caller that needs a result.
	later(ctx context.Context, s pipelined) error
	// sync waits until everything given to later has run.
	sync(ctx context.Context) error
	// repeat runs a statement for each width of args.
	repeat(ctx context.Context, query string, args []any, width int) error
	commit(ctx context.Context) error
	// rollback undoes what is not committed; after a commit it does nothing.
	rollback()
}

// pipelined is a statement to be run later.
type pipelined struct {
	what    string
	query   string
	args    []any
	rows    func(cursor) error // reads its rows; nil: they do not matter
	explain func(error) error  // says what the server's error means; nil: what it says
}

// earlier is the error of a statement that was to be run later, where the result of another one was asked for.
type earlier struct {
	error
	refused bool // the server has refused the statement, and not gone on to those behind it
}

// Unwrap returns the error as the database has given it.
func (e earlier) Unwrap() error { return e.error }

// cursor goes through the rows of a result.
type cursor interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// atOnceSession runs each statement when it is asked for it: SQLite is in the same process, and there is no round trip
// to save.
type atOnceSession struct {
	statements
	tx *sql.Tx // nil: each statement for itself
}

// statements runs statements: a transaction of database/sql, or its pool.
type statements interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (s atOnceSession) exec(ctx context.Context, query string, args []any) (int64, error) {
	result, err := s.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s atOnceSession) query(ctx context.Context, query string, args []any) (cursor, error) {
	found, err := s.QueryContext(ctx, query, args...) //nolint:rowserrcheck // the caller asks
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (s atOnceSession) later(ctx context.Context, l pipelined) error {
	if l.rows != nil {
		found, err := s.query(ctx, l.query, l.args)
		if err != nil {
			return err
		}
		return errors.Join(l.rows(found), found.Close())
	}
	_, err := s.exec(ctx, l.query, l.args)
	return err
}

func (atOnceSession) sync(context.Context) error { return nil }

func (s atOnceSession) repeat(ctx context.Context, query string, args []any, width int) error {
	prepared, err := s.PrepareContext(ctx, query) //nolint:sqlclosecheck // it is closed below
	if err != nil {
		return err
	}
	defer prepared.Close()
	for row := range slices.Chunk(args, width) {
		if _, err := prepared.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}

func (s atOnceSession) commit(context.Context) error { return s.tx.Commit() }

func (s atOnceSession) rollback() { _ = s.tx.Rollback() }

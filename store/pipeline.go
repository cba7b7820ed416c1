package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// pipeline runs the statements of a transaction on PostgreSQL. What nobody waits for – its begin, the writes given to
// later, the commit – goes over with the next statement whose result is needed, so that it costs no round trip of its
// own. The server still runs all in the order in which they were given, and skips what follows a
// failure (PostgreSQL 15, 34.5 Pipeline Mode; 55.2.3 Extended Query).
type pipeline struct {
	conn    *pgx.Conn
	waiting []pipelined
	open    bool // the server has, or may have, a transaction that has not ended
	lone    bool // a Read: one statement outside a transaction
	sent    int  // how often something was sent
	hear    func(statement string)
}

// serverOf returns pgx's connection behind one of the pool's, and who hears what it is asked.
func serverOf(conn any) (*pgx.Conn, func(statement string)) {
	if kept, is := conn.(*sparePostgres); is {
		return kept.Conn.Conn(), kept.of.spare.hear
	}
	return conn.(*stdlib.Conn).Conn(), func(string) {}
}

// The statements that begin a transaction, and a View. They name what the guarantees rest on, whatever the server, the
// database or the role has as its default (default_transaction_isolation, PostgreSQL 15, 20.11.1): a transaction takes
// its locks and then reads what others have committed before.
const (
	beginWriting = `BEGIN ISOLATION LEVEL READ COMMITTED`
	beginReading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
)

// rollbackWithin bounds how long a rollback may take. Its connection is closed then, which undoes the transaction too.
const rollbackWithin = 5 * time.Second

// onServer runs f with a connection of the pool to PostgreSQL. begin is how its transaction starts; empty: it has none.
// Where the server has ended the connection before anything was asked of it, f runs again with another one.
func (db *DB) onServer(ctx context.Context, begin string, f func(s session) error) error {
	for try := 1; ; try++ {
		untouched, err := db.onConnection(ctx, begin, f)
		if !untouched || try > db.write.Stats().OpenConnections+1 {
			return err
		}
	}
}

// onConnection is onServer with one connection. untouched says that nothing was sent over it, because it was broken.
func (db *DB) onConnection(ctx context.Context, begin string, f func(s session) error) (untouched bool, err error) {
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	defer conn.Close()
	var failed error
	raw := conn.Raw(func(of any) error {
		p := &pipeline{lone: begin == ""}
		p.conn, p.hear = serverOf(of)
		if !p.lone {
			p.waiting = []pipelined{{what: "begin", query: begin}}
		}
		failed = f(p)
		p.rollback()
		untouched = p.sent <= 1 && p.conn.IsClosed() && pgconn.SafeToRetry(failed)
		if p.conn.IsClosed() {
			return driver.ErrBadConn // the pool forgets it
		}
		return nil
	})
	if failed == nil && !errors.Is(raw, driver.ErrBadConn) {
		return false, raw
	}
	return untouched, failed
}

func (p *pipeline) exec(ctx context.Context, query string, args []any) (n int64, err error) {
	p.hear(query)
	if len(p.waiting) == 0 {
		p.sent++
		tag, err := p.conn.Exec(ctx, query, args...)
		return tag.RowsAffected(), err
	}
	results, err := p.send(ctx, pipelined{query: query, args: args})
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	return tag.RowsAffected(), errors.Join(err, closeResults(results, err))
}

func (p *pipeline) query(ctx context.Context, query string, args []any) (cursor, error) {
	p.hear(query)
	if len(p.waiting) == 0 {
		p.sent++
		found, err := p.conn.Query(ctx, query, args...)
		return pipelineRows{Rows: found}, err
	}
	results, err := p.send(ctx, pipelined{query: query, args: args})
	if err != nil {
		return nil, err
	}
	found, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, closeResults(results, err))
	}
	return pipelineRows{found, results}, nil
}

func (p *pipeline) later(_ context.Context, s pipelined) error {
	p.hear(s.query)
	p.waiting = append(p.waiting, s)
	return nil
}

func (p *pipeline) sync(ctx context.Context) error {
	if len(p.waiting) == 0 {
		return nil
	}
	results, err := p.send(ctx)
	if err == nil {
		err = results.Close()
	}
	return err
}

func (p *pipeline) repeat(_ context.Context, query string, args []any, width int) error {
	for row := range slices.Chunk(args, width) {
		p.waiting = append(p.waiting, pipelined{what: "repeat", query: query, args: row})
	}
	return nil
}

// send sends what waits, and one statement more, and reads the results of the former. The result of the last one is
// the next of what it returns.
func (p *pipeline) send(ctx context.Context, last ...pipelined) (pgx.BatchResults, error) {
	var batch pgx.Batch
	sent := p.waiting
	p.waiting, p.open = nil, true
	p.sent++
	for _, s := range slices.Concat(sent, last) {
		batch.Queue(s.query, s.args...)
	}
	results := p.conn.SendBatch(ctx, &batch)
	for _, s := range sent {
		if err := s.take(results); err != nil {
			_ = results.Close() // it would say the same
			var answer *pgconn.PgError
			refused := errors.As(err, &answer) && answer.Severity == "ERROR"
			if s.explain != nil {
				err = s.explain(err)
			}
			return nil, earlier{fmt.Errorf("%s: %w", s.what, err), refused}
		}
	}
	return results, nil
}

// take takes the next of some results, which is the statement's.
func (s pipelined) take(results pgx.BatchResults) error {
	if s.rows != nil {
		found, err := results.Query()
		if err != nil {
			return err
		}
		err = s.rows(pipelineRows{Rows: found})
		found.Close()
		return cmp.Or(err, found.Err())
	}
	_, err := results.Exec()
	return err
}

// closeResults closes results, and returns what went wrong with that only where it is something else than what is
// known.
func closeResults(results pgx.BatchResults, known error) error {
	if err := results.Close(); err != nil && known == nil {
		return err
	}
	return nil
}

// commit ends the transaction. The error is an earlier where a statement that waited was refused: nothing is committed
// then. After any other error the changes may stand.
func (p *pipeline) commit(ctx context.Context) error {
	if !p.open && len(p.waiting) <= 1 { // nothing has started
		p.waiting = nil
		return nil
	}
	results, err := p.send(ctx, pipelined{query: `COMMIT`})
	if early, is := errors.AsType[earlier](err); is && !early.refused {
		return early.error // the server may have gone on
	}
	if err != nil {
		return err
	}
	tag, err := results.Exec()
	if err = errors.Join(err, closeResults(results, err)); err != nil {
		return err
	}
	p.open = false
	if tag.String() != "COMMIT" { // PostgreSQL answers so where an earlier error was passed over
		return earlier{pgx.ErrTxCommitRollback, true}
	}
	return nil
}

func (p *pipeline) rollback() {
	p.waiting = nil
	if !p.open || p.conn.IsClosed() {
		return
	}
	p.open = false
	if p.lone {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackWithin)
	defer cancel()
	if _, err := p.conn.Exec(ctx, `ROLLBACK`); err != nil {
		_ = p.conn.Close(ctx)
	}
}

// pipelineRows are the rows of a statement, with the results of those that were sent with it.
type pipelineRows struct {
	pgx.Rows
	results pgx.BatchResults // nil: it was sent alone
}

// Close ends the reading, so that the next statement can be sent.
func (r pipelineRows) Close() error {
	r.Rows.Close()
	if r.results == nil {
		return nil
	}
	return closeResults(r.results, r.Err())
}

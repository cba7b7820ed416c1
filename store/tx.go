package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Tx is one database transaction. Its handles (handles.go) give access to each kind of object.
type Tx struct {
	session  session
	postgres bool
	reads    bool // it is a View of PostgreSQL, which refuses whatever writes or locks
	now      time.Time
	before   func(ctx context.Context, at Point, what string) error
	after    []func()
	failed   error // of the first statement that failed: nothing of the transaction may be committed
	seal     sealKey
	epoch    uint32 // of the keys of this process
	sealing  sealing
	kept     []keptNow
	indexed  bool // the server plans by index for the rest of the transaction
	careful  bool // an entry may be posted already: each is looked for before it is written

	wrote     bool // a statement does not begin with SELECT; known only where there is a witness
	views     bool // the transaction cannot write, whatever its statements begin with
	acted     bool // it has appended to the log of acts
	numbering bool // it may draw numbers of events, and others know
}

// fail notes that a statement has failed, and returns why. A caller that passes the error over still commits nothing:
// a state that lacks what one statement should have written is never the state of the books.
func (tx *Tx) fail(what string, err error) error {
	if _, other := errors.AsType[earlier](err); !other {
		err = fmt.Errorf("%s: %w", what, err)
	}
	if tx.failed == nil {
		tx.failed = err
	}
	return err
}

// Now is the time of the transaction's start, the same for all it writes.
func (tx *Tx) Now() time.Time { return tx.now }

// After has f run once the transaction is committed, after those that were given before. It does not run if the
// transaction is rolled back or retried, so a line is logged exactly once, after the commit.
func (tx *Tx) After(f func()) { tx.after = append(tx.after, f) }

// maxRetries bounds how often a transaction that lost to another one is run again.
const maxRetries = 10

// Do runs f in a transaction and commits it when f returns nil; any error of f undoes everything and is returned as it
// is. f may run more than once, when the database says that it lost to a concurrent transaction, so it must have no
// effect besides what it writes through tx.
func (db *DB) Do(ctx context.Context, f func(tx *Tx) error) error {
	var err error
	var how manner
	for try := range maxRetries {
		err = db.once(ctx, how, f)
		switch {
		case postedTwice(err) && !how.careful:
			how.careful = true
			continue
		case !lostRace(err):
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
	return db.once(ctx, manner{reads: true}, f)
}

// The errors of a Read that makes two statements, which would see two states, or that writes.
var (
	errSecondStatement = errors.New("a Read makes one statement, or several that are asked for together")
	errReadWrites      = errors.New("a Read writes nothing")
)

// Read runs f, which makes one statement that writes nothing: what that sees is consistent without a transaction, which
// on PostgreSQL costs two more round trips. A second statement fails.
func (db *DB) Read(ctx context.Context, f func(tx *Tx) error) error {
	return db.reading(ctx, func(made, _ bool) bool { return !made }, f)
}

// ReadTogether is Read for several statements, which go to PostgreSQL in one round trip: f asks for all of them, by
// what returns a Deferred, before it looks at the first result. Each result is consistent in itself and may be newer
// than another one. A statement behind the first result fails on PostgreSQL.
func (db *DB) ReadTogether(ctx context.Context, f func(tx *Tx) error) error {
	return db.reading(ctx, func(_, sent bool) bool { return !sent }, f)
}

// reading runs f outside a transaction. may says whether it may make a statement after one was made, and after one was
// sent to PostgreSQL.
func (db *DB) reading(ctx context.Context, may func(made, sent bool) bool, f func(tx *Tx) error) error {
	if err := db.hooks.Before(ctx, Beginning, ""); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = db.hooks.Before(ctx, Ended, "") }()
	if db.postgres {
		return db.onServer(ctx, "", func(s session) error { return db.readOnce(s, may, f) })
	}
	return db.readOnce(atOnceSession{statements: db.read}, may, f)
}

func (db *DB) readOnce(s session, may func(made, sent bool) bool, f func(tx *Tx) error) error {
	made := false
	server, _ := s.(*pipeline)
	tx := db.newTx(s, db.postgres)
	tx.before = func(ctx context.Context, at Point, what string) error {
		if !may(made, server != nil && server.sent > 0) {
			return errSecondStatement
		}
		if !strings.HasPrefix(what, "SELECT ") {
			return errReadWrites
		}
		made = true
		return db.hooks.Before(ctx, at, what)
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.failed
}

// Witness has f run at the end of every transaction that wrote something and has appended nothing to the log of acts:
// it appends what the writing was for. Set it before the database is used by others.
func (db *DB) Witness(f func(ctx context.Context, tx *Tx) error) { db.witness = f }

// Rehearse has every transaction that wrote something end with this error in place of its commit, after all that would
// have been checked and recorded: nothing is changed. It needs a Witness. Set it before the database is used by others.
func (db *DB) Rehearse(instead error) { db.rehearse = instead }

func (db *DB) newTx(s session, reads bool) *Tx {
	tx := &Tx{session: s, postgres: db.postgres, reads: reads, now: db.Now(), before: db.hooks.Before, seal: db.seal,
		epoch: db.epoch}
	if db.witness != nil {
		tx.before = func(ctx context.Context, at Point, what string) error {
			tx.wrote = tx.wrote || at == Running && !strings.HasPrefix(what, "SELECT ")
			return db.hooks.Before(ctx, at, what)
		}
	}
	return tx
}

// manner is how a transaction runs.
type manner struct {
	reads   bool // it is a View
	careful bool // as in Tx
}

// once runs f in a transaction.
func (db *DB) once(ctx context.Context, how manner, f func(tx *Tx) error) error {
	if err := db.hooks.Before(ctx, Beginning, ""); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = db.hooks.Before(ctx, Ended, "") }()
	var done *Tx
	inside := func(s session) error {
		done = db.newTx(s, how.reads && db.postgres)
		done.views, done.careful = how.reads, how.careful
		return db.through(ctx, done, f)
	}
	if err := db.begin(ctx, how.reads, inside); err != nil {
		if done != nil && postedTwice(done.failed) {
			return done.failed // whatever f made of it
		}
		return err
	}
	for _, f := range done.after {
		f()
	}
	return nil
}

// begin runs f with a session that has a transaction, which is undone where f has not committed it.
func (db *DB) begin(ctx context.Context, reads bool, f func(s session) error) error {
	switch {
	case db.postgres && reads:
		return db.onServer(ctx, beginReading, f)
	case db.postgres:
		return db.onServer(ctx, beginWriting, f)
	}
	pool := db.write
	if reads {
		pool = db.read
	}
	raw, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	s := atOnceSession{raw, raw}
	defer s.rollback() // it also runs when f panics
	return f(s)
}

// through runs f, and what belongs at the end of its transaction, and commits.
func (db *DB) through(ctx context.Context, tx *Tx, f func(tx *Tx) error) error {
	if err := f(tx); err != nil {
		return err
	}
	if tx.failed != nil {
		return tx.failed
	}
	if err := tx.keepAnswers(ctx); err != nil {
		return err
	}
	if tx.wrote && !tx.acted && !tx.views {
		if err := db.witness(ctx, tx); err != nil {
			return err
		}
	}
	if err := tx.link(ctx); err != nil {
		return err
	}
	if tx.wrote && db.rehearse != nil {
		return db.rehearse
	}
	err := db.commit(ctx, tx.session)
	if _, refused := errors.AsType[earlier](err); err != nil && !refused {
		return fmt.Errorf("%w: %w", ErrCommit, err)
	}
	return err
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
	return db.hooks.Sleep(ctx, time.Duration(db.hooks.Random(int64(limit)))+time.Millisecond)
}

func (db *DB) commit(ctx context.Context, s session) error {
	if err := db.hooks.Before(ctx, Committing, ""); err != nil {
		return err
	}
	if err := s.commit(ctx); err != nil {
		return err
	}
	return db.hooks.Before(ctx, Committed, "")
}

package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"
	"regexp"
)

// maxStatements bounds how many statements of a connection stay prepared. Texts with lists of other lengths are others.
const maxStatements = 512

// cachedConnector opens connections to SQLite that keep their statements prepared. Preparing one again each time
// takes longer than running it: sqlite3_prepare_v2 parses the text and plans it. A connection to PostgreSQL does so
// by itself.
type cachedConnector struct {
	driver.Connector
	image []byte // a database to begin with, in memory; none: what the connector names
	quiet bool   // statements are not interrupted when their context ends, which costs a goroutine for each
	file  string // that it writes to, for yield; empty: it only reads, or nobody else could write
}

// imaged is what the driver's connections can do besides.
type imaged interface {
	Serialize() ([]byte, error)
	Deserialize(image []byte) error
}

// sqliteConn is all that database/sql uses of the driver's connection.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	imaged
}

type cachedConn struct {
	sqliteConn
	quiet bool
	yield *yield // nil: nothing is left to others
	kept  map[string]*cachedStatement
	uses  uint64 // of kept statements, so far
}

// cachedStatement is a prepared statement; it is busy while its rows are read.
type cachedStatement struct {
	driver.Stmt
	busy bool
	used uint64 // cachedConn.uses when it was used last
}

func (c cachedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	raw, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, whole := raw.(sqliteConn)
	if !whole {
		return raw, nil // a driver that offers less is used as it is
	}
	if len(c.image) > 0 {
		if err := conn.Deserialize(c.image); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	kept := &cachedConn{sqliteConn: conn, quiet: c.quiet, kept: map[string]*cachedStatement{}}
	if c.file != "" {
		kept.yield = writesTo(c.file)
	}
	return kept, nil
}

func (c *cachedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.yield == nil {
		return c.sqliteConn.BeginTx(ctx, opts)
	}
	c.yield.before(ctx, c)
	tx, err := c.sqliteConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return yieldingTx{tx, c.yield}, nil
}

func (c *cachedConn) Close() error {
	var failed error
	for _, s := range c.kept {
		failed = errors.Join(failed, s.Close())
	}
	clear(c.kept)
	return errors.Join(failed, c.sqliteConn.Close())
}

// statement returns a prepared statement that is free, nil where there is none: then the text is run as it is.
func (c *cachedConn) statement(ctx context.Context, query string) *cachedStatement {
	s := c.kept[query]
	if s == nil {
		if len(c.kept) >= maxStatements {
			c.forgetOldest()
		}
		prepared, err := c.sqliteConn.PrepareContext(ctx, steady(query))
		if err != nil {
			return nil // the same error comes from running it
		}
		s = &cachedStatement{Stmt: prepared}
		c.kept[query] = s
	}
	if s.busy {
		return nil
	}
	c.uses++
	s.used = c.uses
	return s
}

// forgetOldest closes the statement that was not used for longest: texts that come once, with a list of some length,
// must not keep out those that come all the time.
func (c *cachedConn) forgetOldest() {
	oldest, text := uint64(math.MaxUint64), ""
	for query, s := range c.kept {
		if !s.busy && s.used < oldest {
			oldest, text = s.used, query
		}
	}
	if s := c.kept[text]; s != nil {
		_ = s.Close() // its last error was returned when it ran
		delete(c.kept, text)
	}
}

// lone are parameters by whose value SQLite would plan: in a limit (sqlite3ExprIsInteger, 3.48 and later), and
// compared with what the condition of a partial index may name (exprCompareVariable).
var lone = regexp.MustCompile(`(\s(?:LIMIT|=|<>|<|<=|>|>=)\s)\$([0-9]+)`)

// steady makes expressions of parameters by whose value SQLite would plan: it prepares a statement that has one again
// each time that it is bound.
func steady(query string) string { return lone.ReplaceAllString(query, "$1+$$$2") }

func (c *cachedConn) context(ctx context.Context) context.Context {
	if c.quiet {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (c *cachedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx = c.context(ctx)
	if s := c.statement(ctx, query); s != nil {
		if runs, can := s.Stmt.(driver.StmtExecContext); can {
			s.busy = true
			defer func() { s.busy = false }()
			return runs.ExecContext(ctx, args)
		}
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c *cachedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx = c.context(ctx)
	s := c.statement(ctx, query)
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	runs, can := s.Stmt.(driver.StmtQueryContext)
	if !can {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	found, err := runs.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &cachedRows{found, s}, nil
}

// PrepareContext gives the statement that is kept, until it is closed.
func (c *cachedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	ctx = c.context(ctx)
	s := c.statement(ctx, query)
	if s == nil {
		return c.sqliteConn.PrepareContext(ctx, query)
	}
	runs, whole := s.Stmt.(wholeStatement)
	if !whole {
		return c.sqliteConn.PrepareContext(ctx, query)
	}
	s.busy = true
	return &lentStatement{runs, s, c}, nil
}

// wholeStatement is all that database/sql uses of the driver's statement.
type wholeStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// lentStatement is a kept statement in the hands of who prepared it.
type lentStatement struct {
	wholeStatement
	of   *cachedStatement
	conn *cachedConn
}

func (s *lentStatement) Close() error {
	s.of.busy = false
	return nil
}

func (s *lentStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.wholeStatement.ExecContext(s.conn.context(ctx), args)
}

func (s *lentStatement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.wholeStatement.QueryContext(s.conn.context(ctx), args)
}

type cachedRows struct {
	driver.Rows
	of *cachedStatement
}

func (r *cachedRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}

package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// How long PostgreSQL may take. A server that hangs, or a network that swallows everything, keeps its connections
// open: without a limit anyone who waits for it waits for ever.
const (
	connectWithin = 5 * time.Second  // to be connected; what the URL's connect_timeout says goes before
	silentFor     = 30 * time.Second // with nothing heard where an answer is due
	statement     = 25 * time.Second // for one statement, so that one that is given up does not go on holding locks
	idleInside    = 60 * time.Second // for a process that began a transaction and was frozen, which holds up all others
	pingWithin    = 3 * time.Second  // to see whether a connection that was idle is still there
)

// ErrSilent is returned where PostgreSQL takes what it is asked and answers nothing. What was asked may have been done.
var ErrSilent = errors.New("the database does not answer")

// patient bounds how long a pool's connections wait, and has the server bound what it does for them. What the URL
// says goes before. Migrations, dumps and checks of whole databases take their time and are not bounded.
func patient(config *pgx.ConnConfig) {
	dialer := &net.Dialer{
		Timeout:         config.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &impatientConn{Conn: conn, limit: silentFor}, nil
	}
	check := config.ValidateConnect
	config.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if check != nil {
			if err := check(ctx, conn); err != nil {
				return err
			}
		}
		return limitServer(ctx, conn, config.RuntimeParams)
	}
}

// limitServer sets the server's own limits with statements: not every pooler in between takes them at the start of a
// connection. And no statement is compiled: that takes the server up to a second each time, for statements that read a
// few rows and only look dear, as those of Tx.byIndex do, for which whatever they must not do costs ten thousand
// million (PostgreSQL 15, chapter 32 and costsize.c).
func limitServer(ctx context.Context, conn *pgconn.PgConn, named map[string]string) error {
	var set []string
	for name, value := range map[string]string{
		"statement_timeout":                   fmt.Sprint(statement.Milliseconds()),
		"idle_in_transaction_session_timeout": fmt.Sprint(idleInside.Milliseconds()),
		"jit":                                 "off",
	} {
		if _, there := named[name]; !there {
			set = append(set, fmt.Sprintf("SET %s = %s", name, value))
		}
	}
	if _, err := conn.Exec(ctx, strings.Join(set, "; ")).ReadAll(); err != nil {
		return fmt.Errorf("limit a connection: %w", err)
	}
	return nil
}

// aliveStill pings a connection that was idle for a moment. One that does not answer is closed, and the pool takes
// another.
func aliveStill(ctx context.Context, params stdlib.ShouldPingParams) bool {
	if params.IdleDuration < time.Second {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, pingWithin)
	defer cancel()
	return params.Conn.Ping(limited) != nil // then it is closed, and the pool's own ping says so
}

// impatientConn gives up where nothing is heard for limit while somebody waits. Deadlines that others set go before.
type impatientConn struct {
	net.Conn
	limit time.Duration

	mu    sync.Mutex
	other bool // whether somebody else's deadline stands
}

// Read implements net.Conn.
func (c *impatientConn) Read(p []byte) (int, error) {
	ours := c.begin(c.Conn.SetReadDeadline)
	n, err := c.Conn.Read(p)
	return n, c.explain(ours, err)
}

// Write implements net.Conn.
func (c *impatientConn) Write(p []byte) (int, error) {
	ours := c.begin(c.Conn.SetWriteDeadline)
	n, err := c.Conn.Write(p)
	return n, c.explain(ours, err)
}

func (c *impatientConn) begin(set func(time.Time) error) (ours bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.other && set(time.Now().Add(c.limit)) == nil
}

func (c *impatientConn) explain(ours bool, err error) error {
	var timeout net.Error
	if err == nil || !ours || !errors.As(err, &timeout) || !timeout.Timeout() {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.other { // somebody's deadline came while we waited
		return err
	}
	return fmt.Errorf("%w: nothing was heard for %v: %w", ErrSilent, c.limit, err)
}

// SetDeadline implements net.Conn; no deadline is ours again.
func (c *impatientConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.other = !t.IsZero()
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn as SetDeadline.
func (c *impatientConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.other = !t.IsZero()
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn as SetDeadline.
func (c *impatientConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.other = !t.IsZero()
	return c.Conn.SetWriteDeadline(t)
}

// databaseAway is Away for errors that only a database gives: a node's network may fail as well as a database's.
func databaseAway(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.Is(err, ErrSilent) || errors.Is(err, ErrStandby) ||
		errors.Is(err, driver.ErrBadConn) ||
		awayPostgres(err) || awaySQLite(err)
}

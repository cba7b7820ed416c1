package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/stdlib"
)

// Spare takes the connections of databases that were opened with it once they are closed, and gives them to the next
// one with the same URL. It is for tests, each of which opens a database for a moment: to connect, to look whether the
// schema is today's and to prepare every statement takes longer than most of them do. A database with a Spare is
// otherwise like any other: who still uses one that is closed gets the error that it is. The zero value is empty.
type Spare struct {
	Heard func(statement string) // called with what PostgreSQL is asked; nil: nobody listens

	mu       sync.Mutex
	conns    map[string][]spareConn // by what they were opened with
	migrated map[string]bool        // by URL
}

// spareConn is a connection that can be used again.
type spareConn interface {
	driver.Conn
	usable(ctx context.Context) bool // nothing is under way in it, and it is not broken
	discard() error
}

// take returns a connection that was closed, nil where there is none.
func (s *Spare) take(ctx context.Context, source string) driver.Conn {
	for {
		s.mu.Lock()
		left := s.conns[source]
		if len(left) == 0 {
			s.mu.Unlock()
			return nil
		}
		conn := left[len(left)-1]
		s.conns[source] = left[:len(left)-1]
		s.mu.Unlock()
		if conn.usable(ctx) {
			return conn
		}
		_ = conn.discard()
	}
}

// keep is what closing a connection does.
func (s *Spare) keep(source string, conn spareConn) error {
	if !conn.usable(context.Background()) {
		return conn.discard()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[string][]spareConn{}
	}
	s.conns[source] = append(s.conns[source], conn)
	return nil
}

func (s *Spare) hear(statement string) {
	if s.Heard != nil {
		s.Heard(statement)
	}
}

// Discard closes the connections that it has.
func (s *Spare) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conns := range s.conns {
		for _, conn := range conns {
			_ = conn.discard()
		}
	}
	s.conns, s.migrated = nil, nil
}

// Backends returns the process IDs at the server of the connections to PostgreSQL that it has.
func (s *Spare) Backends() (ids []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conns := range s.conns {
		for _, conn := range conns {
			if p, is := conn.(*sparePostgres); is {
				ids = append(ids, p.Conn.Conn().PgConn().PID())
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// knows reports whether a database was brought up to date already by one that was opened with this Spare.
func (s *Spare) knows(url string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.migrated[url]
}

// note records that a database is up to date.
func (s *Spare) note(url string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.migrated == nil {
		s.migrated = map[string]bool{}
	}
	s.migrated[url] = true
}

// connector returns what connects by what is spare first; on a nil Spare, what it is given.
func (s *Spare) connector(source string, fresh driver.Connector) driver.Connector {
	if s == nil {
		return fresh
	}
	return spareConnector{Connector: fresh, spare: s, source: source}
}

type spareConnector struct {
	driver.Connector
	spare  *Spare
	source string
}

func (c spareConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if conn := c.spare.take(ctx, c.source); conn != nil {
		return conn, nil
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	switch conn := conn.(type) {
	case *cachedConn:
		return &spareSQLite{conn, c}, nil
	case *stdlib.Conn:
		return &sparePostgres{conn, c}, nil
	}
	return nil, fmt.Errorf("a connection of type %T cannot be kept", conn)
}

type spareSQLite struct {
	*cachedConn
	of spareConnector
}

func (c *spareSQLite) Close() error   { return c.of.spare.keep(c.of.source, c) }
func (c *spareSQLite) discard() error { return c.cachedConn.Close() }

func (c *spareSQLite) usable(ctx context.Context) bool {
	for _, s := range c.kept {
		if s.busy {
			return false
		}
	}
	_, err := c.ExecContext(ctx, "ROLLBACK", nil)
	return err != nil && c.IsValid() // the error says that no transaction is active
}

type sparePostgres struct {
	*stdlib.Conn
	of spareConnector
}

func (c *sparePostgres) Close() error   { return c.of.spare.keep(c.of.source, c) }
func (c *sparePostgres) discard() error { return c.Conn.Close() }

func (c *sparePostgres) usable(ctx context.Context) bool {
	conn := c.Conn.Conn()
	return !conn.IsClosed() && conn.PgConn().TxStatus() == 'I' && c.Ping(ctx) == nil
}

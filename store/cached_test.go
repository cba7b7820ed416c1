package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
)

// Texts that come once do not keep out a statement that comes all the time.
func TestAStatementInUseStaysPrepared(t *testing.T) {
	prepared := map[string]int{}
	c := &cachedConn{sqliteConn: &preparing{prepared: prepared}, kept: map[string]*cachedStatement{}}
	const often = "SELECT often"
	for i := range 2 * maxStatements {
		for _, query := range []string{often, fmt.Sprintf("SELECT %d", i)} {
			if c.statement(t.Context(), query) == nil {
				t.Fatalf("%q is not prepared after %d others, want it kept", query, i)
			}
		}
	}
	if prepared[often] != 1 {
		t.Errorf("%q was prepared %d times, want once", often, prepared[often])
	}
	if len(c.kept) > maxStatements {
		t.Errorf("%d statements are kept, want at most %d", len(c.kept), maxStatements)
	}
}

// A statement whose rows are being read is not closed below them.
func TestABusyStatementIsNotForgotten(t *testing.T) {
	conn := &preparing{prepared: map[string]int{}}
	c := &cachedConn{sqliteConn: conn, kept: map[string]*cachedStatement{}}
	first := c.statement(t.Context(), "SELECT first")
	first.busy = true
	for i := range 2 * maxStatements {
		c.statement(t.Context(), fmt.Sprintf("SELECT %d", i))
	}
	if c.kept["SELECT first"] != first {
		t.Error("the statement that is read was forgotten, want it kept")
	}
	if want := maxStatements + 1; conn.closed != want {
		t.Errorf("%d statements were closed, want %d", conn.closed, want)
	}
}

// preparing is a connection that only prepares.
type preparing struct {
	sqliteConn
	prepared map[string]int
	closed   int
}

func (c *preparing) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	c.prepared[query]++
	return preparedStatement{conn: c}, nil
}

type preparedStatement struct {
	driver.Stmt
	conn *preparing
}

func (s preparedStatement) Close() error {
	s.conn.closed++
	return errors.ErrUnsupported
}

// SQLite prepares a statement again for each value of a parameter that it plans by, so that none stands alone.
func TestNoParameterIsOneThatSQLitePlansBy(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT a FROM b WHERE c = $1 LIMIT $2":         "SELECT a FROM b WHERE c = +$1 LIMIT +$2",
		"SELECT a FROM b\n\t\tWHERE c = $1\n\tLIMIT $2": "SELECT a FROM b\n\t\tWHERE c = +$1\n\tLIMIT +$2",
		"SELECT a FROM b WHERE c <= $1 AND d <> $2":     "SELECT a FROM b WHERE c <= +$1 AND d <> +$2",
		"SELECT a FROM b WHERE c > $12 OR c < $3":       "SELECT a FROM b WHERE c > +$12 OR c < +$3",
		"INSERT INTO a(b, c) VALUES ($1, $2)":           "INSERT INTO a(b, c) VALUES ($1, $2)",
	} {
		if got := steady(query); got != want {
			t.Errorf("%q becomes %q, want %q", query, got, want)
		}
	}
}

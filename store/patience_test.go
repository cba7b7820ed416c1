package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server that is stopped takes what it is asked and answers nothing, for ever.
func TestNobodyWaitsForASilentDatabaseForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		conn := &impatientConn{Conn: here, limit: silentFor}
		defer conn.Close()
		for name, wait := range map[string]func([]byte) (int, error){"read": conn.Read, "write": conn.Write} {
			began := time.Now()
			_, err := wait(make([]byte, 1))
			if waited := time.Since(began); !errors.Is(err, ErrSilent) || !databaseAway(fmt.Errorf("begin: %w", err)) ||
				waited != silentFor {
				t.Errorf("a %s gives %v after %v", name, err, waited)
			}
		}
		go func() { _, _ = there.Write([]byte("x")) }()
		if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("once it answers it is read %d, %v, want 1", n, err)
		}
	})
}

// pgx ends a call whose context has ended by a deadline in the past, at any moment.
func TestTheDeadlinesOfOthersGoBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		conn := &impatientConn{Conn: here, limit: silentFor}
		defer conn.Close()
		time.AfterFunc(time.Second, func() { _ = conn.SetDeadline(time.Now().Add(-time.Second)) })
		began := time.Now()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, ErrSilent) ||
			time.Since(began) != time.Second {
			t.Errorf("a deadline that comes meanwhile gives %v after %v", err, time.Since(began))
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("and stands no longer: %v after %v", err, time.Since(began))
		}
		for _, set := range []func(time.Time) error{conn.SetReadDeadline, conn.SetWriteDeadline} {
			if err := set(time.Time{}); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, ErrSilent) {
				t.Errorf("taken back, it gives %v, want %v", err, ErrSilent)
			}
		}
	})
}

// A database is tried again soon; a node's trouble is no reason to ask it every two seconds.
func TestADatabaseThatIsAwayIsTriedAgainSoon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		slow time.Duration
	}{
		"refused":      {&pgconn.ConnectError{}, soon},
		"stopping":     {&pgconn.PgError{Code: "57P01"}, soon},
		"disk full":    {&pgconn.PgError{Code: "53100"}, soon},
		"demoted":      {&pgconn.PgError{Code: "25006"}, soon},
		"standby":      {ErrStandby, soon},
		"silent":       {ErrSilent, soon},
		"gone":         {driver.ErrBadConn, soon},
		"a node":       {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, slowest},
		"a constraint": {&pgconn.PgError{Code: "23505"}, slowest},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var last time.Time
			steps := 0
			w := Work{Pace: time.Second, Failed: func(int, error) {}, Step: func(context.Context) (bool, error) {
				if steps++; steps == 12 {
					if wait := time.Since(last); wait != c.slow {
						t.Errorf("%s: after many failures it waits %v, want %v", name, wait, c.slow)
					}
					cancel()
				}
				last = time.Now()
				return false, fmt.Errorf("begin: %w", c.err)
			}}
			if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: it ended with %v, want %v", name, err, context.Canceled)
			}
		})
	}
}

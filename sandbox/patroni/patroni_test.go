package patroni_test

import (
	"context"
	"database/sql"
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/patroni"
)

var ttl = flag.Int("ttl", 6, "Patroni's ttl in seconds")

func cluster(t *testing.T, cfg patroni.Config) *patroni.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a cluster of PostgreSQL servers: left out by -short")
	}
	t.Parallel() // most of the time a cluster waits
	began := time.Now()
	cfg.TTL = *ttl
	c, err := patroni.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("the cluster is ready after %v", time.Since(began).Round(time.Millisecond))
	return c
}

// write commits a number through the server that accepts writes.
func write(ctx context.Context, db *sql.DB, n int) error {
	_, err := db.ExecContext(ctx, "INSERT INTO numbers VALUES ($1)", n)
	return err
}

func failOver(t *testing.T, c *patroni.Cluster, before func(db *sql.DB, primary int)) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", c.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec("CREATE TABLE numbers (n int)"); err != nil {
		t.Fatal(err)
	}
	primary, err := c.WaitPrimary(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	before(db, primary)
	began := time.Now()
	if err := c.Kill(primary); err != nil {
		t.Fatal(err)
	}
	next, err := c.WaitPrimary(t.Context(), primary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("member %d took over from %d after %v", next, primary, time.Since(began).Round(time.Millisecond))
	return db
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM numbers").Scan(&n); err != nil {
		if err = db.QueryRow("SELECT count(*) FROM numbers").Scan(&n); err != nil { // on a new connection
			t.Fatal(err)
		}
	}
	return n
}

func TestASynchronousStandbyHasAllThatWasAcknowledged(t *testing.T) {
	c := cluster(t, patroni.Config{Synchronous: true})
	db := failOver(t, c, func(db *sql.DB, _ int) {
		for n := range 200 {
			if err := write(t.Context(), db, n); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n := count(t, db); n != 200 {
		t.Errorf("%d of 200 numbers are there, want 200", n)
	}
	if err := write(t.Context(), db, 200); err != nil {
		t.Errorf("the new primary accepts no writes: %v", err)
	}
	if err := c.Restart(0); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitStandbys(t.Context()); err != nil {
		t.Errorf("the killed primary does not become a standby: %v", err)
	}
}

// TestAnAsynchronousStandbyLosesWhatDidNotReachIt checks that an asynchronous standby has what reached it: the
// harness must be able to lose the rest, each time.
func TestAnAsynchronousStandbyLosesWhatDidNotReachIt(t *testing.T) {
	c := cluster(t, patroni.Config{})
	db := failOver(t, c, func(db *sql.DB, primary int) {
		for n := range 20 {
			if n == 10 {
				if err := c.WaitCaughtUp(t.Context(), primary); err != nil {
					t.Fatal(err)
				}
				c.HoldReplication(primary)
			}
			if err := write(t.Context(), db, n); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n := count(t, db); n != 10 {
		t.Errorf("%d numbers are there, want the 10 that had reached the standby", n)
	}
}

// TestASwitchoverLosesNothing has an operator hand over to the standby while numbers are written: everything
// acknowledged is there.
func TestASwitchoverLosesNothing(t *testing.T) {
	c := cluster(t, patroni.Config{Synchronous: true})
	db, err := sql.Open("pgx", c.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec("CREATE TABLE numbers (n int)"); err != nil {
		t.Fatal(err)
	}
	var acked atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		pace := time.NewTicker(2 * time.Millisecond) // without it, it would try to connect without a pause meanwhile
		defer pace.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			if write(ctx, db, n) == nil {
				acked.Add(1)
			}
			<-pace.C
		}
	})
	began := time.Now()
	said, err := c.Switchover(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := c.WaitPrimary(t.Context(), 0); err != nil || next != 1 {
		t.Fatalf("member %d accepts writes: %v\n%s, want 1", next, err, said)
	}
	t.Logf("handed over after %v", time.Since(began).Round(time.Millisecond))
	cancel()
	writing.Wait()
	if n := count(t, db); int64(n) < acked.Load() {
		t.Errorf("%d numbers are there of %d that were acknowledged", n, acked.Load())
	}
}

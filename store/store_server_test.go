package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The server's own limits end what was given up here; a URL that names its own keeps them, and what takes its time
// has none.
func TestTheServerLimitsWhatItDoesForUs(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	unhurried, err := store.OpenAsIs(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unhurried.Close() })
	for name, c := range map[string]struct {
		db                *store.DB
		statement, frozen string
	}{
		"usual":     {storetest.Open(t, url), "25s", "1min"},
		"named":     {storetest.Open(t, url+"&statement_timeout=7000"), "7s", "1min"},
		"unhurried": {unhurried, "0", "0"},
	} {
		for setting, want := range map[string]string{
			"statement_timeout":                   c.statement,
			"idle_in_transaction_session_timeout": c.frozen,
		} {
			var got string
			err := c.db.View(context.Background(), func(tx *store.Tx) error {
				return tx.Ask(context.Background(), &got, "SHOW "+setting)
			})
			if err != nil || got != want {
				t.Errorf("%s: %s is %q (%v), want %q", name, setting, got, err, want)
			}
		}
	}
}

// PostgreSQL compiles a statement that it takes to be dear (PostgreSQL 15, chapter 32), each time it is executed: the
// few rows of an index are read in less than a thousandth of the time that this takes. Reports of the operator that
// read everything may be compiled, as others who use the URL may be.
func TestNoStatementIsCompiled(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	unhurried, err := store.OpenAsIs(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unhurried.Close() })
	for name, c := range map[string]struct {
		db   *store.DB
		want bool
	}{
		"usual":     {storetest.Open(t, url), false},
		"named":     {storetest.Open(t, url+"&jit=on"), true},
		"unhurried": {unhurried, true},
	} {
		var can, above, plan string
		err := c.db.View(context.Background(), func(tx *store.Tx) error {
			if err := tx.Ask(context.Background(), &can,
				"SELECT pg_jit_available()::text || current_setting('jit')"); err != nil {
				return err
			}
			if err := tx.Ask(context.Background(), &above, "SELECT set_config('jit_above_cost', '0', true)"); err != nil {
				return err
			}
			return tx.Ask(context.Background(), &plan, "EXPLAIN (FORMAT JSON) SELECT COUNT(*) FROM events")
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.want && can != "trueon" {
			continue // this server cannot compile
		}
		if got := strings.Contains(plan, "JIT"); got != c.want {
			t.Errorf("%s: a dear statement is compiled: %v, want %v:\n%s", name, got, c.want, plan)
		}
	}
}

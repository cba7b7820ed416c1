package store_test

import (
	"context"
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

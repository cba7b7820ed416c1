package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A database that is closed refuses what is asked of it also where its connections go on in another one, and a
// connection in the middle of a transaction does not go on.
func TestAClosedDatabaseWithASpareIsClosed(t *testing.T) {
	t.Parallel()
	for name, url := range urls(t) {
		t.Run(name, func(t *testing.T) {
			ctx, spare := context.Background(), &store.Spare{}
			defer spare.Discard()
			open := func() *store.DB {
				db, err := store.Open(ctx, store.Config{URL: url, Spare: spare})
				if err != nil {
					t.Fatal(err)
				}
				return db
			}
			first := open()
			var late error
			err := first.Do(ctx, func(tx *store.Tx) error {
				if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
					return err
				}
				go first.Close() // waits for nothing that is under way
				for late == nil {
					late = first.Ping(ctx)
				}
				return tx.Chains().Ensure(ctx, "litecoin")
			})
			if err == nil {
				err = late
			}
			if err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("closed, it returned %v, want that it is closed", err)
			}
			second := open()
			defer second.Close()
			if err := second.Do(ctx, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, "dogecoin") }); err != nil {
				t.Errorf("the next one returned %v, want none", err)
			}
			if err := first.Ping(ctx); err == nil {
				t.Error("the first one still answers, want that it is closed")
			}
		})
	}
}

// urls are databases of today's schema, one of each kind.
func urls(t *testing.T) map[string]string {
	of := map[string]string{"sqlite": storetest.SQLite(t)}
	if !testing.Short() {
		of["postgres"] = storetest.Postgres(t)
	}
	return of
}

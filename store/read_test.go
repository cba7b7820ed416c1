package store_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A Read makes one statement and writes nothing: two statements without a transaction could see two states.
func TestAReadMakesOneStatement(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		read := func(tx *store.Tx) error {
			_, err := tx.Ledger().Balances(t.Context(), ledger.Custody)
			return err
		}
		if err := db.Read(t.Context(), read); err != nil {
			t.Errorf("one statement gives %v", err)
		}
		for name, c := range map[string]struct {
			f    func(tx *store.Tx) error
			want string
		}{
			"two statements": {func(tx *store.Tx) error { _, _ = read(tx), read(tx); return nil }, "one statement"},
			"a write":        {func(tx *store.Tx) error { return tx.Chains().Ensure(t.Context(), "bitcoin") }, "writes nothing"},
		} {
			if err := db.Read(t.Context(), c.f); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s gives %v, want an error with %q", name, err, c.want)
			}
		}
	})
}

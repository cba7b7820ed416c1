package store_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What is asked for together takes one round trip; behind the first result nothing more can be asked.
func TestStatementsOfAReadAreAskedForTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ids := []bursar.ID{{1}}
		err := db.ReadTogether(t.Context(), func(tx *store.Tx) error {
			lists, rules := tx.DestinationLists().OfSoon(t.Context(), ids), tx.FeeRules().OfSoon(t.Context(), ids...)
			of, err := lists.Get(t.Context())
			if err != nil {
				return err
			}
			all, err := rules.Get(t.Context())
			if len(of) > 0 || len(all) > 0 {
				t.Errorf("found %v and %v, want nothing", of, all)
			}
			if err == nil && db.Postgres() {
				if _, late := tx.DestinationLists().Of(t.Context(), ids); late == nil ||
					!strings.Contains(late.Error(), "one statement") {
					t.Errorf("a statement behind the first result gives %v", late)
				}
			}
			return err
		})
		if err == nil == db.Postgres() {
			t.Errorf("the read ends with %v", err)
		}
		if err := db.ReadTogether(t.Context(), func(tx *store.Tx) error {
			return tx.Chains().Ensure(t.Context(), "bitcoin")
		}); err == nil || !strings.Contains(err.Error(), "writes nothing") {
			t.Errorf("a write gives %v, want an error and %q in it", err, "writes nothing")
		}
	})
}

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

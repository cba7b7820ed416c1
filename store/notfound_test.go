package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A look-up that meets no row says which it was and for which ID, and nobody takes it for an answer to a client.
func TestAMissingRowIsNamedAndIsNoRefusal(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	id := bursar.ID{1}
	for name, look := range map[string]func(tx *store.Tx) error{
		"read wallet":        func(tx *store.Tx) error { _, err := tx.Wallets().ByID(t.Context(), id); return err },
		"read deposit":       func(tx *store.Tx) error { _, err := tx.Deposits().ByID(t.Context(), id); return err },
		"remove destination": func(tx *store.Tx) error { return tx.Destinations().Remove(t.Context(), bursar.ID{2}, id) },
	} {
		err := db.Do(t.Context(), look)
		if want := name + " "; err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), id.String()) {
			t.Errorf("the error is %q: it should begin with %q and name %s", err, want, id)
		}
		if refusal := (*bursar.Error)(nil); !errors.Is(err, store.ErrNotFound) || errors.As(err, &refusal) {
			t.Errorf("%s: %v is no ErrNotFound, or one that a client would be shown", name, err)
		}
		if store.AsRefusal(err) != error(bursar.ErrNotFound) {
			t.Errorf("%s: a client that named the object is told %v", name, store.AsRefusal(err))
		}
	}
}

package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A View needs no witness, whatever its statements begin with: it cannot write, and so cannot append to the log either.
func TestAViewHasNoWitness(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		asked := errors.New("the witness was asked")
		db.Witness(func(context.Context, *store.Tx) error { return asked })
		err := db.View(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.Links().Missing(t.Context(), 0, 1) // which begins with WITH
			return err
		})
		if err != nil {
			t.Errorf("%v, want no error", err)
		}
		err = db.Do(t.Context(), func(tx *store.Tx) error {
			return tx.Settings().Pin(t.Context(), "a", "b")
		})
		if !errors.Is(err, asked) {
			t.Errorf("%v, want %v", err, asked)
		}
	})
}

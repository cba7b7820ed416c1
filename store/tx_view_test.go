package store_test

import (
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A View reads what transactions that write read and lock: what an operator is shown of a recovery, for one.
func TestAViewReadsWhatOthersLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		err := db.View(t.Context(), func(tx *store.Tx) error {
			found, err := tx.Withdrawals().UnfinishedTo(t.Context(), "tron", []string{"somewhere"})
			if len(found) > 0 {
				t.Errorf("an empty database has %+v, want none", found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

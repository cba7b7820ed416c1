package storetest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// passedOver has one statement fail in the midst of a transaction whose author forgets to look at the error.
func passedOver(t *testing.T, db *store.DB) {
	err := db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Halts().Put(ctx, store.Halt{
			Scope:  store.HaltAll,
			Kind:   store.HaltByOperator,
			Reason: "before",
		}); err != nil {
			return err
		}
		// there is no such account
		_ = tx.Wallets().Insert(ctx, []bursar.Wallet{{Number: 1, AccountID: bursar.ID{9}, Currency: "BTC"}})
		return nil
	})
	if err == nil {
		t.Error("the error of a statement is lost")
	}
	do(t, db, func(tx *store.Tx) error {
		if list, err := tx.Halts().List(ctx); err != nil || len(list) != 0 {
			t.Errorf("what came before the failed statement is there: %+v (%v)", list, err)
		}
		return nil
	})
}

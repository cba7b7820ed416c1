package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// limits holds that a limit is one for its accounts, currency and kind, comes back as it was set, and is read with
// those of every account.
func limits(t *testing.T, db *store.DB) {
	one, two := newAccount(t, db, 1), newAccount(t, db, 2)
	set := bursar.LimitRules{
		{AccountID: one, Currency: "BTC", Kind: bursar.LimitApproval, Amount: bursar.LargestAmount(), Actor: "Ann",
			Reason: "r"},
		{AccountID: one, Currency: "BTC", Kind: bursar.LimitMaximum, Amount: bursar.Units(1), Actor: "Ann"},
		{AccountID: two, Currency: "BTC", Kind: bursar.LimitMaximum, Amount: bursar.Units(2)},
		{Currency: "BTC", Kind: bursar.LimitMaximum, Amount: bursar.Units(3)},
		{Currency: "ETH", Kind: bursar.LimitApproval},
	}
	do(t, db, func(tx *store.Tx) error {
		if err := tx.LimitRules().Turn(ctx); err != nil {
			return err
		}
		for i, r := range set {
			before := r
			before.Amount, before.Actor = bursar.Units(9), "Ben"
			if err := tx.LimitRules().Set(ctx, before); err != nil {
				return err
			}
			set[i].SetAt = tx.Now()
			if err := tx.LimitRules().Set(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	read := func(what string, want bursar.LimitRules, accounts ...bursar.ID) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			got, err := tx.LimitRules().Of(ctx, accounts...)
			if err == nil && !slices.Equal(got, want) {
				t.Errorf("%s: read is\n%+v, want\n%+v", what, got, want)
			}
			return err
		})
	}
	read("of both", set, two, one)
	read("of nobody", set[3:])
	read("of one", slices.Concat(set[:2], set[3:]), one, bursar.ID{9})
	do(t, db, func(tx *store.Tx) error {
		got, err := tx.LimitRules().List(ctx, 4)
		if err == nil && !slices.Equal(got, set[:4]) {
			t.Errorf("the list is\n%+v, want\n%+v", got, set[:4])
		}
		return err
	})
	for _, r := range []bursar.LimitRule{set[1], set[3]} {
		do(t, db, func(tx *store.Tx) error { return tx.LimitRules().Remove(ctx, r) })
		do(t, db, func(tx *store.Tx) error {
			if err := tx.LimitRules().Remove(ctx, r); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("removed twice: %v, want not found", err)
			}
			return nil
		})
	}
	read("what is left", bursar.LimitRules{set[0], set[4]}, one)
}

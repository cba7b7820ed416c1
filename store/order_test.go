package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An order is kept as it was signed, and its ID is unique within its account, for ever.
func TestOrdersAreKeptAsTheyWereSigned(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		shop, other := bursar.ID{1}, bursar.ID{2}
		want := bursar.SignedOrder{WithdrawalID: bursar.ID{5}, AccountID: shop, OrderID: bursar.ID{9}, Text: "a\nb\n",
			Signature: "k:s", MaxFee: bursar.Units(7), ExpiresAt: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
		insert := func(change func(o *bursar.SignedOrder)) error {
			o := want
			change(&o)
			return db.Do(ctx, func(tx *store.Tx) error { return tx.SignedOrders().Insert(ctx, o) })
		}
		if err := errors.Join(insert(func(*bursar.SignedOrder) {}), insert(func(o *bursar.SignedOrder) {
			o.WithdrawalID, o.AccountID = bursar.ID{6}, other
		})); err != nil {
			t.Fatal(err)
		}
		if err := insert(func(o *bursar.SignedOrder) { o.WithdrawalID = bursar.ID{7} }); err == nil {
			t.Error("a second order under one ID was kept, want an error")
		}
		err := db.View(ctx, func(tx *store.Tx) error {
			got, err := tx.SignedOrders().Find(ctx, shop, want.OrderID)
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			_, unknown := tx.SignedOrders().Find(ctx, shop, bursar.ID{8})
			if !errors.Is(unknown, store.ErrNotFound) {
				t.Errorf("got %v, want %v", unknown, store.ErrNotFound)
			}
			all, err2 := tx.SignedOrders().Of(ctx, bursar.ID{5}, bursar.ID{6}, bursar.ID{7})
			if len(all) != 2 || all[bursar.ID{6}].AccountID != other {
				t.Errorf("got %+v, want two orders", all)
			}
			none, err3 := tx.SignedOrders().PaidBy(ctx, bursar.ID{3})
			if len(none) > 0 {
				t.Errorf("got %+v, want none", none)
			}
			return errors.Join(err, err2, err3)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestKeysOfOrdersAreKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
		want := bursar.OrderKey{AccountID: bursar.ID{1}, ID: "a", Name: "shop", Public: "A", CreatedAt: at,
			UsableFrom: at.Add(time.Hour)}
		err := db.Do(ctx, func(tx *store.Tx) error {
			if err := tx.OrderKeys().Insert(ctx, want); err != nil {
				return err
			}
			list, err := tx.OrderKeys().Of(ctx, want.AccountID)
			if len(list) != 1 || list[0] != want {
				t.Errorf("got %+v, want %+v", list, want)
			}
			owners, err2 := tx.OrderKeys().OwnersDeferred(ctx, []bursar.ID{want.AccountID, {2}}).Get(ctx)
			if len(owners) != 1 || !owners[want.AccountID] {
				t.Errorf("got %v, want the account alone", owners)
			}
			err3 := tx.OrderKeys().Revoke(ctx, want.AccountID, "a")
			if again := tx.OrderKeys().Revoke(ctx, want.AccountID, "a"); !errors.Is(again, bursar.ErrNotFound) {
				t.Errorf("revoked again: got %v, want %v", again, bursar.ErrNotFound)
			}
			list, err4 := tx.OrderKeys().Of(ctx, want.AccountID)
			if len(list) != 1 || list[0].RevokedAt.IsZero() {
				t.Errorf("got %+v, want it revoked", list)
			}
			return errors.Join(err, err2, err3, err4)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

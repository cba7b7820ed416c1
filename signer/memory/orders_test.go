package memory

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

func TestOrdersOfClientsAreKept(t *testing.T) {
	t.Parallel()
	bothKinds(t, func(t *testing.T, k Keeper) {
		shop, other, order := bursar.ID{1}, bursar.ID{2}, bursar.ID{3}
		first := OrderKey{Account: shop, ID: "a", Public: "A", Name: "one", From: noon}
		second := OrderKey{Account: shop, ID: "b", Public: "B", Name: "two", From: noon.Add(time.Hour)}
		third := OrderKey{Account: other, ID: "a", Public: "A", Name: "one", From: noon}
		do(t, k, func(ctx context.Context, tx Tx) error {
			if any, err := tx.AnyOrderKey(ctx); any || err != nil {
				t.Errorf("got %t, %v before the first key, want none", any, err)
			}
			flow, err := tx.AddFlow(ctx, Flow{Chain: "c", At: noon, Resources: []string{"y", "x"}})
			return errors.Join(err, tx.AddOrderKey(ctx, first), tx.AddOrderKey(ctx, second), tx.AddOrderKey(ctx, third),
				tx.AddOrdered(ctx, shop, order, Digest{7}, flow), tx.AddOrdered(ctx, shop, order, Digest{7}, flow),
				tx.AddOrdered(ctx, shop, order, Digest{8}, flow+1), tx.RevokeOrderKey(ctx, shop, "a", noon.Add(time.Minute)))
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			first.Revoked = noon.Add(time.Minute)
			list, err := tx.OrderKeys(ctx, shop)
			if want := []OrderKey{first, second}; !slices.Equal(list, want) {
				t.Errorf("got the keys %+v, want %+v", list, want)
			}
			all, err2 := tx.OrderKeys(ctx, bursar.ID{})
			if want := []OrderKey{first, second, third}; !slices.Equal(all, want) {
				t.Errorf("got the keys %+v, want %+v", all, want)
			}
			if any, err := tx.AnyOrderKey(ctx); !any || err != nil {
				t.Errorf("got %t, %v, want a key", any, err)
			}
			for _, id := range []string{"a", "c"} {
				if tx.RevokeOrderKey(ctx, shop, id, noon) == nil {
					t.Errorf("key %s was revoked, want an error", id)
				}
			}
			o, found, err3 := tx.Ordered(ctx, shop, order)
			if !found || o.Text != (Digest{7}) || !slices.Equal(o.Flows, []int64{1, 2}) {
				t.Errorf("got %+v, %t, want the first text in two flows", o, found)
			}
			_, unknown, err4 := tx.Ordered(ctx, other, order)
			uses, err5 := tx.Uses(ctx, 1)
			nothing, err6 := tx.Uses(ctx, 9)
			if unknown || !slices.Equal(uses, []string{"x", "y"}) || len(nothing) > 0 {
				t.Errorf("got %t, %v, %v, want no order of the other account, x and y, and nothing", unknown, uses, nothing)
			}
			return errors.Join(err, err2, err3, err4, err5, err6)
		})
	})
}

// What was signed for a client is remembered by a state that begins again: an order is unique for ever.
func TestOrdersOutliveABeginningAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	begin := Init{Fingerprint: "seed", At: noon}
	if err := Create(t.Context(), path, begin); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), path, "seed")
	if err != nil {
		t.Fatal(err)
	}
	do(t, f, func(ctx context.Context, tx Tx) error {
		return errors.Join(tx.AddOrderKey(ctx, OrderKey{Account: bursar.ID{1}, ID: "a", From: noon}),
			tx.AddOrdered(ctx, bursar.ID{1}, bursar.ID{2}, Digest{3}, 4))
	})
	begin.Cold = true
	if err := errors.Join(f.Close(), BeginAgain(t.Context(), path, begin, "ann", "a test")); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(t.Context(), path, "seed"); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	do(t, f, func(ctx context.Context, tx Tx) error {
		any, err := tx.AnyOrderKey(ctx)
		o, found, err2 := tx.Ordered(ctx, bursar.ID{1}, bursar.ID{2})
		if !any || !found || o.Text != (Digest{3}) {
			t.Errorf("got %t, %+v, %t, want the key and the order of before", any, o, found)
		}
		return errors.Join(err, err2)
	})
}

// A key of which only the ID is known is lost until it is added again, and one that was revoked stays so.
func TestALostKeyIsAddedAgain(t *testing.T) {
	t.Parallel()
	bothKinds(t, func(t *testing.T, k Keeper) {
		shop := bursar.ID{1}
		again := OrderKey{Account: shop, ID: "a", Public: "A", Name: "one", From: noon.Add(time.Hour)}
		do(t, k, func(ctx context.Context, tx Tx) error {
			return errors.Join(tx.AddOrderKey(ctx, OrderKey{Account: shop, ID: "a", From: noon}),
				tx.AddOrderKey(ctx, OrderKey{Account: shop, ID: "b", From: noon}), tx.RevokeOrderKey(ctx, shop, "b", noon))
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			list, err := tx.OrderKeys(ctx, shop)
			if len(list) != 2 || !list[0].Lost() || list[1].Lost() {
				t.Errorf("got %+v, want the first lost and the second revoked", list)
			}
			return errors.Join(err, tx.AddOrderKey(ctx, again))
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			for _, id := range []string{"a", "b"} {
				if tx.AddOrderKey(ctx, OrderKey{Account: shop, ID: id, Public: "X"}) == nil {
					t.Errorf("key %s was added again, want an error", id)
				}
			}
			list, err := tx.OrderKeys(ctx, shop)
			if len(list) != 2 || list[0] != again || list[1].Revoked.IsZero() || list[1].Public != "" {
				t.Errorf("got %+v, want %+v and the revoked one", list, again)
			}
			return err
		})
	})
}

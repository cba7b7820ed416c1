package storetest

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// refills holds that a cold wallet has one open refill at most, and that each ends once.
func refills(t *testing.T, db *store.DB) {
	one := store.Refill{ID: bursar.ID{1}, Chain: "bitcoin", Wallet: "vault", Currency: "BTC", Amount: bursar.Units(5),
		Bundle: "text", Actor: "ann"}
	two, other := one, one
	two.ID, other.ID, other.Wallet = bursar.ID{2}, bursar.ID{3}, "second"
	two.Revokes = other.ID.String()
	attempt := func(f func(tx *store.Tx) error) error { return db.Do(ctx, f) }
	do(t, db, func(tx *store.Tx) error { return tx.Refills().Insert(ctx, one) })
	if err := attempt(func(tx *store.Tx) error { return tx.Refills().Insert(ctx, two) }); !errors.Is(err,
		store.ErrRefillOpen) {
		t.Errorf("a second open refill: got %v, want ErrRefillOpen", err)
	}
	do(t, db, func(tx *store.Tx) error {
		return errors.Join(tx.Refills().Insert(ctx, other), tx.Refills().Send(ctx, one.ID, "id", []byte{1}),
			tx.Refills().Send(ctx, one.ID, "id", []byte{2}), tx.Refills().Insert(ctx, two),
			tx.Refills().Abandon(ctx, two.ID, "lost"))
	})
	for what, f := range map[string]func(tx *store.Tx) error{
		"another transaction": func(tx *store.Tx) error { return tx.Refills().Send(ctx, one.ID, "other", []byte{1}) },
		"an abandoned one":    func(tx *store.Tx) error { return tx.Refills().Send(ctx, two.ID, "id", []byte{1}) },
		"a sent one":          func(tx *store.Tx) error { return tx.Refills().Abandon(ctx, one.ID, "late") },
		"none":                func(tx *store.Tx) error { return tx.Refills().Abandon(ctx, bursar.ID{9}, "none") },
	} {
		if err := attempt(f); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", what, err)
		}
	}
	do(t, db, func(tx *store.Tx) error {
		by, err := tx.Refills().Revocations(ctx, other.ID)
		if len(by) != 1 || by[0].ID != two.ID {
			t.Errorf("got %+v, want what revokes the refill", by)
		}
		final, err2 := tx.Refills().Final(ctx, one)
		if final {
			t.Error("a refill in no block is final")
		}
		waiting, err3 := tx.Refills().NotFinal(ctx, "bitcoin", one.Wallet)
		if len(waiting) != 1 || waiting[0].ID != one.ID || waiting[0].Bundle != "text" {
			t.Errorf("got %+v, want the sent refill of the wallet with its bundle", waiting)
		}
		return errors.Join(err, err2, err3)
	})
	wantListed(t, db, 3, one.Amount)
	do(t, db, func(tx *store.Tx) (err error) {
		got, err := tx.Refills().Get(ctx, one.ID)
		if got.Status != store.RefillSent || got.TxID != "id" || string(got.Raw) != "\x01" || got.Amount != one.Amount ||
			got.Bundle != "text" || got.Actor != "ann" || got.EndedAt.IsZero() || got.CreatedAt.IsZero() {
			t.Errorf("got %+v, want the refill as it was sent first", got)
		}
		return err
	})
}

// wantListed wants a number of refills in the list, each of an amount and without what only its own page shows.
func wantListed(t *testing.T, db *store.DB, number int, amount bursar.Amount) {
	t.Helper()
	var found []store.Refill
	do(t, db, func(tx *store.Tx) (err error) {
		found, err = tx.Refills().List(ctx, 10)
		return err
	})
	if len(found) != number {
		t.Fatalf("got %d refills, want %d", len(found), number)
	}
	for _, r := range found {
		if r.Bundle != "" || len(r.Raw) > 0 || r.Wallet == "" || r.Amount != amount {
			t.Errorf("listed is %+v, want a refill without its bundle and bytes", r)
		}
	}
}

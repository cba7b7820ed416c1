package store_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// A database in memory goes back to what was kept, and begins with the image of another one.
func TestAMemoryDatabaseIsRewoundAndCopied(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, err := store.OpenMemory(ctx, nil, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	insert := func(id bursar.ID) {
		t.Helper()
		err := db.Do(ctx, func(tx *store.Tx) error {
			return tx.InsertAccount(ctx, bursar.Account{ID: id, Name: "a", CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(db *store.DB) (n int) {
		t.Helper()
		err := db.View(ctx, func(tx *store.Tx) error {
			list, err := tx.Accounts(ctx)
			n = len(list)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	insert(bursar.ID{1})
	if err := db.Keep(ctx); err != nil {
		t.Fatal(err)
	}
	insert(bursar.ID{2})
	image, err := db.Image(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Rewind(ctx); err != nil || count(db) != 1 {
		t.Fatalf("%d accounts after a rewind, %v", count(db), err)
	}
	insert(bursar.ID{3})
	other, err := store.OpenMemory(ctx, image, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if count(other) != 2 || count(db) != 2 {
		t.Fatalf("%d accounts in the copy, %d in the original", count(other), count(db))
	}
}

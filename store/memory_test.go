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
			return tx.Accounts().Insert(ctx, bursar.Account{ID: id, Name: "a", CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(db *store.DB) (n int) {
		t.Helper()
		err := db.View(ctx, func(tx *store.Tx) error {
			list, err := tx.Accounts().All(ctx)
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
		t.Fatalf("%d accounts after a rewind, %v, want 1", count(db), err)
	}
	rows := map[string]int{}
	if err := db.EachRow(ctx, func(table string, values []any) { rows[table]++ }); err != nil || rows["accounts"] != 1 ||
		rows["kept_accounts"] != 0 || rows["goose_db_version"] == 0 {
		t.Fatalf("the rows that are read: %v, %v, want 1 and 0 and not 0", rows, err)
	}
	insert(bursar.ID{3})
	other, err := store.OpenMemory(ctx, image, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if count(other) != 2 || count(db) != 2 {
		t.Fatalf("%d accounts in the copy, %d in the original, want 2", count(other), count(db))
	}
}

// A database in memory is overwritten by an image, under anyone who uses it: every row is what it was, empty bytes too.
func TestAMemoryDatabaseIsOverwritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, err := store.OpenMemory(ctx, nil, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := bursar.OutgoingTx{ID: bursar.ID{7}, Chain: bursar.Bitcoin, Kind: "withdrawal", Currency: "BTC",
		Request: []byte(`{}`), Unsigned: []byte(`{}`), TxID: "aa", Height: 3}
	must(db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Bitcoin); err != nil {
			return err
		}
		return tx.Outgoing().InsertAdopted(ctx, p, []string{"bb:0"})
	}))
	image, err := db.Image(ctx)
	must(err)
	must(db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Reservations().Free(ctx, p.ID); err != nil {
			return err
		}
		return tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: "cc", Unsigned: []byte(`{}`), Raw: []byte{1}})
	}))
	must(db.Overwrite(ctx, image))
	must(db.View(ctx, func(tx *store.Tx) error {
		versions, err := tx.Outgoing().Versions(ctx, p.ID)
		if err != nil || len(versions) != 1 || versions[0].TxID != "aa" || len(versions[0].Raw) != 0 {
			t.Errorf("its versions are %+v, %v, want 1 of them and %q and none", versions, err, "aa")
		}
		owners, err := tx.Reservations().Owners(ctx, bursar.Bitcoin, []string{"bb:0"})
		if owners["bb:0"] != p.ID {
			t.Errorf("its reservations are %+v, want %v", owners, p.ID)
		}
		return err
	}))
	if again, err := db.Image(ctx); err != nil || len(again) == 0 {
		t.Errorf("an image of %d bytes, %v, want some", len(again), err)
	}
}

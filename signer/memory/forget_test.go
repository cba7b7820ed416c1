package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// add remembers a signature of a flow of its own, or of a given one.
func add(t *testing.T, k Keeper, digest byte, at time.Time, flow int64, resources ...string) int64 {
	t.Helper()
	do(t, k, func(ctx context.Context, tx Tx) (err error) {
		if flow == 0 {
			flow, err = tx.AddFlow(ctx, Flow{Chain: "tron", At: at, Resources: resources,
				Counts: []Count{{Class: Fees, Units: bursar.Units(5), At: at}}})
		}
		if err != nil {
			return err
		}
		return tx.AddSigned(ctx, flow, "tron", Digest{digest}, at)
	})
	return flow
}

// What can count in no window is forgotten: digests, and flows that use nothing up. What a flow uses up, and what an
// outpoint holds, is kept for ever.
func TestOnlyWhatCannotCountIsForgotten(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	do(t, f, remember) // an outpoint, at noon
	bare := add(t, f, 11, noon, 0)
	numbered := add(t, f, 12, noon, 0, "hot/1")
	late := add(t, f, 13, noon, 0)
	add(t, f, 14, noon.Add(2*time.Hour), late)
	newest := add(t, f, 15, noon, 0)
	var forgotten int
	do(t, f, func(ctx context.Context, tx Tx) (err error) {
		forgotten, err = tx.Forget(ctx, noon.Add(time.Hour), 100)
		return err
	})
	if forgotten != 7 {
		t.Errorf("%d digests are forgotten, want the 7 of noon", forgotten)
	}
	do(t, f, func(ctx context.Context, tx Tx) error {
		for digest, want := range map[byte]bool{11: false, 12: false, 13: false, 14: true, 15: false} {
			if _, found, err := tx.Signed(ctx, "tron", Digest{digest}); found != want || err != nil {
				t.Errorf("digest %d: found %v, %v, want %v", digest, found, err, want)
			}
		}
		if sharing, err := tx.Sharing(ctx, "tron", []string{"hot/1"}); err != nil || len(sharing) != 1 ||
			sharing[0].ID != numbered || len(sharing[0].Counts) != 1 {
			t.Errorf("hot/1 is used by %+v, %v, want 1 of them and %v", sharing, err, numbered)
		}
		if _, found, err := tx.UTXO(ctx, "bitcoin", "a:0"); !found || err != nil {
			t.Errorf("the outpoint is forgotten, %v", err)
		}
		counts, err := tx.CountsSince(ctx, noon)
		left := map[int64]bool{}
		for _, c := range counts {
			left[c.Flow] = true
		}
		if left[bare] || !left[numbered] || !left[late] || !left[newest] {
			t.Errorf("of %d, %d, %d and %d count %v, %v", bare, numbered, late, newest, left, err)
		}
		return nil
	})
	if _, err := Verify(t.Context(), f); err != nil {
		t.Error(err)
	}
}

func TestAFewAreForgottenAtOnce(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	flow := add(t, f, 1, noon, 0, "hot/1")
	for n := range byte(9) {
		add(t, f, n+2, noon.Add(time.Duration(n)*time.Minute), flow)
	}
	do(t, f, func(ctx context.Context, tx Tx) error {
		if n, err := tx.SignedSince(ctx, flow, noon.Add(5*time.Minute)); n != 4 || err != nil {
			t.Errorf("%d since five past, %v, want 4", n, err)
		}
		if n, err := tx.Forget(ctx, noon.Add(time.Hour), 4); n != 4 || err != nil {
			t.Errorf("%d are forgotten, %v, want 4", n, err)
		}
		if n, err := tx.SignedSince(ctx, flow, noon); n != 6 || err != nil {
			t.Errorf("%d are left, %v, want 6", n, err)
		}
		return nil
	})
}

// first creates a file as the first release did.
func first(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{migrations[0], `PRAGMA user_version = 1`,
		`INSERT INTO state VALUES (1, 'I', 'seed', 5, 0)`,
		`INSERT INTO flows VALUES (1, 'tron', 'sweep', '00000000-0000-0000-0000-000000000000', 7000)`,
		`INSERT INTO signed(chain, digest, flow) VALUES ('tron', zeroblob(32), 1)`} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A digest of the first release is as old as its flow.
func TestAStateOfTheFirstReleaseIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	f := reopen(t, first(t))
	var at int64
	if err := f.db.QueryRowContext(t.Context(), `SELECT at FROM signed`).Scan(&at); err != nil || at != 7000 {
		t.Errorf("the digest is of %d, %v, want 7000", at, err)
	}
}

// A no of a release that did not note the kinds of keys stays, and another kind stands beside it.
func TestDenialsOfBeforeStay(t *testing.T) {
	t.Parallel()
	path := first(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Index(migrations, denialsSchema)
	for _, text := range append(migrations[1:before:before], fmt.Sprintf(`PRAGMA user_version = %d`, before),
		`INSERT INTO denials VALUES (zeroblob(32), 'bob', 7000)`) {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	do(t, reopen(t, path), func(ctx context.Context, tx Tx) error {
		at := time.UnixMilli(7000).UTC()
		err := tx.AddDenial(ctx, Digest{}, Denial{"bob", "webauthn", at})
		list, failed := tx.Denials(ctx, Digest{})
		if want := []Denial{{"bob", "", at}, {"bob", "webauthn", at}}; !reflect.DeepEqual(list, want) {
			t.Errorf("got %+v, want %+v", list, want)
		}
		return errors.Join(err, failed)
	})
}

// A command of this release does not change the schema under a signer of an earlier one.
func TestACommandChangesNoSchemaBesideASigner(t *testing.T) {
	t.Parallel()
	path := first(t)
	unlock, err := lock(path + lockSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), path); !errors.Is(err, ErrOlder) {
		t.Errorf("beside a running signer: %v, want %v", err, ErrOlder)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	beside, err := Join(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Freezes(t.Context(), beside)
	if err := errors.Join(err, beside.Close()); err != nil || !reflect.DeepEqual(list, []Freeze(nil)) {
		t.Errorf("afterwards: %v, %v", list, err)
	}
}

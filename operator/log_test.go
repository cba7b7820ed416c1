package operator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Whatever the database's owner changes in a row of the log of acts is noticed with the row's number. What is removed
// from the end is noticed by a hash that was noted before.
func TestATamperedLogIsNoticed(t *testing.T) {
	t.Parallel()
	t.Run("a changed row", func(t *testing.T) {
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			changes := []string{"at = at + 1", "actor = 'somebody'", "person_id = session_id", "session_id = person_id",
				"address = '192.0.2.9'", "verb = 'read'", "object = 'another'", "was = 'other'", "became = 'other'",
				"reason = 'none'", "request = 'other'", "token = 'other'", "evidence = 'forged'", "previous = hash"}
			recordActs(t, db, len(changes))
			for i := len(changes); i > 0; i-- { // the first row that is wrong is the one that is named
				tamper(t, db, fmt.Sprintf("UPDATE acts SET %s WHERE number = %d RETURNING number", changes[i-1], i))
				noticed(t, db, fmt.Sprintf("row %d of the log of acts", i))
			}
		})
	})
	t.Run("a removed row", func(t *testing.T) {
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			recordActs(t, db, 3)
			tamper(t, db, "DELETE FROM acts WHERE number = 2 RETURNING number")
			noticed(t, db, "row 2 of the log of acts is missing")
		})
	})
	t.Run("a removed end", func(t *testing.T) {
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			head := recordActs(t, db, 3)
			tamper(t, db, "DELETE FROM acts WHERE number = 3 RETURNING number")
			err := db.View(t.Context(), func(tx *store.Tx) error { return tx.Acts().Holds(t.Context(), head) })
			if err == nil || !strings.Contains(err.Error(), "rows were removed") {
				t.Errorf("a hash that was noted is answered %v, want that rows were removed", err)
			}
			err = db.Do(t.Context(), func(tx *store.Tx) error { return record(t.Context(), tx, 4) })
			if err == nil || !strings.Contains(err.Error(), "ends with row 2, want 3") {
				t.Errorf("the next act is answered %v, want that the end is missing", err)
			}
		})
	})
}

// recordActs records acts, and returns the hash of the last.
func recordActs(t *testing.T, db *store.DB, n int) (head string) {
	t.Helper()
	for i := range n {
		if err := db.Do(t.Context(), func(tx *store.Tx) error { return record(t.Context(), tx, i) }); err != nil {
			t.Fatal(err)
		}
	}
	last, err := operator.Verify(t.Context(), db)
	if err != nil || last.Number != int64(n) {
		t.Fatalf("the log ends with row %d, %v, want %d acts", last.Number, err, n)
	}
	return fmt.Sprintf("%x", last.Hash)
}

func record(ctx context.Context, tx *store.Tx, i int) error {
	a := host()
	a.Person.ID, a.Session = [16]byte{1}, [16]byte{2}
	a.Verb, a.Object, a.Before, a.After, a.Reason = operator.VerbHalt, fmt.Sprint("chain ", i), "a", "b", "a drill"
	return operator.Record(ctx, tx, a)
}

// tamper changes a row past the service and its role.
func tamper(t *testing.T, db *store.DB, statement string) {
	t.Helper()
	if got := storetest.Ask(t, storetest.AsOwner(storetest.URL(db)), statement); got == "" {
		t.Fatalf("%s changed no row, want one", statement)
	}
}

func noticed(t *testing.T, db *store.DB, want string) {
	t.Helper()
	if _, err := operator.Verify(t.Context(), db); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the log is evaluated %v, want %q", err, want)
	}
}

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The hashes of acts are those of every version, ever after: a log that one wrote is verified by the next. These two
// were computed by another program, from what store/act.go says of the two forms.
func TestTheHashOfAnActNeverChanges(t *testing.T) {
	t.Parallel()
	a := store.Act{Number: 7, At: time.Date(2026, 1, 2, 3, 4, 5, 6_007_000, time.UTC), Actor: "Ada",
		Person: bursar.ID{1}, Session: bursar.ID{2}, Address: "192.0.2.1", Verb: "withdrawal.approve",
		Object: "withdrawal 01", Was: "held", Became: "queued", Reason: "schön", Request: "req-1", Evidence: "proof"}
	for i := range a.Previous {
		a.Previous[i] = byte(i)
	}
	const (
		first  = "c6446c9647e619f5cb3dbd07a1880ead1ad33465a8d7b72dc335e35995316992"
		second = "ef9d37247a6762304b005c5623bc737cc6ec692d8547083e6b2dfdd4078baa33"
	)
	if got := fmt.Sprintf("%x", a.Sum()); got != first {
		t.Errorf("without a token the hash is %s, want %s", got, first)
	}
	a.Token = "tok"
	if got := fmt.Sprintf("%x", a.Sum()); got != second {
		t.Errorf("with a token the hash is %s, want %s", got, second)
	}
}

// A version that knows the first form alone reads a row without its token. It calls the row changed, and never takes
// it for another one: both forms begin with their name, so no row of one has the hash of a row of the other.
func TestAnOlderReaderOfActsRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	a := store.Act{Number: 1, Actor: "Ada", Verb: "key.revoke", Object: "key 01", Request: "req-1", Token: "tok"}
	a.Hash = a.Sum()
	older := a
	older.Token = "" // the column is not among those that it reads
	if older.Sum() == a.Hash {
		t.Error("a row with a token has the hash of one without, want another")
	}
	older.Evidence += "tok" // the same text in the last place of the first form
	if older.Sum() == a.Hash {
		t.Error("a row with a token has the hash of one of the first form, want another")
	}
}

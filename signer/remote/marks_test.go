package remote_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer/remote"
)

// The signer keeps the marks of all replicas: each reads what the others raised, with the journal; a missing and a
// damaged file are distinguished, and a full journal loses nothing.
func TestTheSignerKeepsTheMarks(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	path := filepath.Join(t.TempDir(), "seed.marks")
	b.server.Marks = marks.NewFile(path)
	a := socket(t)
	defer b.serve(a)()
	one, err := remote.Dial(a)
	b.must(err)
	other, err := remote.Dial(a)
	b.must(err)
	if _, err := one.Marks().Load(t.Context()); !errors.Is(err, marks.ErrMissing) {
		t.Fatalf("a file that is not there gives %v", err)
	}
	if _, err := one.Marks().Create(t.Context(), marks.State{Keeper: "k", Beat: 3}); err != nil {
		t.Fatal(err)
	}
	content := json.RawMessage(`"` + strings.Repeat("x", 3<<20) + `"`)
	e := marks.Entry{Chain: "tron", Number: 1, OutgoingID: "s", Pays: []string{"w"}, Content: content}
	raised, err := one.Marks().Raise(t.Context(),
		marks.State{Signed: map[string]int64{"tron": 1}, Journal: []marks.Entry{e}})
	b.must(err)
	read, err := other.Marks().Load(t.Context())
	if err != nil || !reflect.DeepEqual(read, raised) || !reflect.DeepEqual(read.Journal, []marks.Entry{e}) ||
		read.Beat != 3 || !read.Complete("tron", 0) {
		t.Fatalf("the other replica reads %d entries, beat %d, %v", len(read.Journal), read.Beat, err)
	}
	for n := int64(2); err == nil; n++ { // each of 3 MiB
		e.Number, e.OutgoingID, e.Pays = n, e.OutgoingID+"s", nil
		_, err = other.Marks().Raise(t.Context(), marks.State{Signed: map[string]int64{"tron": n}, Journal: []marks.Entry{e}})
	}
	if !errors.Is(err, marks.ErrFull) {
		t.Errorf("a journal that is full gives %v, want %v", err, marks.ErrFull)
	}
	if read, err = one.Marks().Load(t.Context()); err != nil || len(read.Journal) != 2 || read.Signed["tron"] != 2 {
		t.Errorf("the marks have %d entries, %v signed, %v, want 2 of them and 2", len(read.Journal), read.Signed, err)
	}
	b.must(os.WriteFile(path, []byte("{"), 0o600))
	if _, err := one.Marks().Raise(t.Context(), marks.State{Beat: 4}); err == nil || errors.Is(err, marks.ErrMissing) {
		t.Errorf("a broken file gives %v", err)
	}
}

package marks_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/marks"
)

func entry(number int64, outgoingID string, pays ...string) marks.Entry {
	return marks.Entry{Chain: "tron", Number: number, OutgoingID: outgoingID, Pays: pays, Content: json.RawMessage(`{}`)}
}

func signs(e marks.Entry) marks.State {
	return marks.State{Signed: map[string]int64{e.Chain: e.Number}, Journal: []marks.Entry{e}}
}

func outgoingIDs(s marks.State) string {
	var list []string
	for _, e := range s.Journal {
		list = append(list, e.OutgoingID)
	}
	return strings.Join(list, " ")
}

// A signed transaction stays in the journal until it has ended, or until a newer one makes the same payment.
func TestTheJournalKeepsOpenTransactions(t *testing.T) {
	t.Parallel()
	file := marks.NewFile(filepath.Join(t.TempDir(), "m"))
	if _, err := file.Create(ctx, marks.State{}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		by   marks.State
		want string
	}{
		{signs(entry(1, "a", "w1", "w2")), "a"},
		{signs(entry(2, "b", "w3")), "a b"},
		{marks.State{Beat: 1}, "a b"},
		{signs(entry(3, "b", "w3")), "a b"}, // signed again
		{signs(entry(4, "c", "w2")), "b c"}, // a can never be included, or c would not pay w2
		{marks.State{Ended: []marks.Ended{{Chain: "tron", Number: 2}, {Chain: "evm", Number: 3}}}, "b c"}, // other entries
		{marks.State{Ended: []marks.Ended{{Chain: "tron", Number: 3}}}, "c"},
	} {
		got, err := file.Raise(ctx, step.by)
		if err != nil || outgoingIDs(got) != step.want || len(got.Ended) > 0 {
			t.Fatalf("after %+v the journal is %q, %v; want %q", step.by, outgoingIDs(got), err, step.want)
		}
	}
}

// The journal knows the number above which it contains every signature.
func TestTheJournalKnowsItsGaps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		raises []marks.State
		since  int64
	}{
		"from the beginning":          {[]marks.State{signs(entry(1, "a")), signs(entry(2, "b"))}, 0},
		"of a database that has some": {[]marks.State{{Signed: map[string]int64{"tron": 7}}, signs(entry(8, "a"))}, 7},
		"another process signed": {[]marks.State{signs(entry(1, "a")), {Signed: map[string]int64{"tron": 2}},
			signs(entry(3, "b"))}, 2},
		"a number is left out": {[]marks.State{signs(entry(1, "a")), signs(entry(3, "b"))}, 2},
		"what was ended":       {[]marks.State{signs(entry(1, "a")), {Ended: []marks.Ended{{Chain: "tron", Number: 1}}}}, 0},
		"of another chain":     {[]marks.State{signs(entry(1, "a")), {Signed: map[string]int64{"evm": 9}}}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := marks.NewFile(filepath.Join(t.TempDir(), "m"))
			kept, err := file.Create(ctx, marks.State{})
			for _, by := range test.raises {
				if err == nil {
					kept, err = file.Raise(ctx, by)
				}
			}
			if err != nil || !kept.Complete("tron", test.since) || kept.Complete("tron", test.since-1) {
				t.Errorf("it is complete above %d: %+v, %v", test.since, kept, err)
			}
		})
	}
}

// A full journal accepts no entry, and loses none.
func TestAFullJournal(t *testing.T) {
	t.Parallel()
	file := marks.NewFile(filepath.Join(t.TempDir(), "m"))
	if _, err := file.Create(ctx, marks.State{}); err != nil {
		t.Fatal(err)
	}
	big := entry(1, "a")
	big.Content = json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)
	if _, err := file.Raise(ctx, signs(big)); err != nil {
		t.Fatal(err)
	}
	other := big
	other.Number, other.OutgoingID = 2, "b"
	if _, err := file.Raise(ctx, signs(other)); !errors.Is(err, marks.ErrFull) {
		t.Fatalf("a second one of 5 MiB gives %v, want %v", err, marks.ErrFull)
	}
	kept, err := file.Load(ctx)
	if err != nil || outgoingIDs(kept) != "a" || kept.Signed["tron"] != 1 {
		t.Fatalf("the marks are %v %v, %v, want %q and 1", kept.Signed, outgoingIDs(kept), err, "a")
	}
	if _, err := file.Raise(ctx, marks.State{Ended: []marks.Ended{{Chain: "tron", Number: 1}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Raise(ctx, signs(other)); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

// What a signature that was undone had replaced comes back into a journal that has filled up meanwhile: otherwise no
// mark could be raised any more.
func TestAFullJournalTakesBackWhatWasReplaced(t *testing.T) {
	t.Parallel()
	file := marks.NewFile(filepath.Join(t.TempDir(), "m"))
	if _, err := file.Create(ctx, marks.State{}); err != nil {
		t.Fatal(err)
	}
	big, small, other := entry(1, "a"), entry(2, "a"), entry(3, "b")
	big.Content = json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)
	other.Content = big.Content
	for _, e := range []marks.Entry{big, small, other} {
		if _, err := file.Raise(ctx, signs(e)); err != nil {
			t.Fatal(err)
		}
	}
	back := marks.State{Ended: []marks.Ended{small.Name()}, Journal: []marks.Entry{big}}
	kept, err := file.Raise(ctx, back)
	if err != nil || outgoingIDs(kept) != "b a" {
		t.Fatalf("the journal has %q, %v, want %q", outgoingIDs(kept), err, "b a")
	}
	third := entry(4, "c")
	if _, err := file.Raise(ctx, signs(third)); !errors.Is(err, marks.ErrFull) {
		t.Errorf("another one gives %v, want %v", err, marks.ErrFull)
	}
	if kept, err := marks.NewFile(file.Path()).Load(ctx); err != nil || outgoingIDs(kept) != "b a" {
		t.Errorf("the file has %q, %v, want %q", outgoingIDs(kept), err, "b a")
	}
}

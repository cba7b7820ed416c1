package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// doctor reports what would keep the service from starting, or make its chains recover, and changes nothing.
func TestDoctorChecksTheMarks(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	path := filepath.Join(d.dir, "seed.age.marks")
	want := func(result string, parts ...string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		found, _ := d.findings()
		f := found["marks"]
		for _, part := range parts {
			if f.Result != result || !strings.Contains(f.Detail, part) {
				t.Errorf("it finds %+v, want %s and %q", f, result, part)
			}
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("the marks were %s and are %s, want %v", before, after, string(before))
		}
	}
	want(resultOK, "none yet")
	d.ok("recovery", "join")
	file := marks.NewFile(path)
	e := marks.Entry{Chain: "tron", Number: 1, OutgoingID: "01a20367-242e-7000-8f0b-ba3151578618",
		Content: json.RawMessage(`{}`)}
	if _, err := file.Raise(t.Context(), marks.State{Keeper: "one", Journal: []marks.Entry{e}}); err != nil {
		t.Fatal(err)
	}
	want(resultOK, "1 payments in the journal", "other marks")
	d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Settings().NameKeeper(ctx, "one") })
	want(resultOK, "1 payments in the journal")
	if _, err := file.Raise(t.Context(), marks.State{Signed: map[string]int64{"tron": 1}}); err != nil {
		t.Fatal(err)
	}
	want(resultWarning, "it has 0 signed transactions of tron, the marks have 1")
	d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Counters().Keep(ctx) })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want(resultFailed, "the marks are missing")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(resultFailed, "cannot be used")
}

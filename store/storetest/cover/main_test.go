package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The chosen tests make every statement, lists of other lengths being the same one, and none of them is needless.
func TestEveryStatementIsMade(t *testing.T) {
	name := filepath.Join(t.TempDir(), "made.json")
	const text = `{"Test":"A","Seconds":0.1,"Statements":["a IN ($1, $2)","b"]}
		{"Test":"B","Seconds":5,"Statements":["a IN ($1, $2)","b","c"]}
		{"Test":"C","Seconds":0.1,"Statements":["d","a IN ($1, $2, $3)"]}
		{"Test":"D","Seconds":0.2,"Statements":["d"]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := choose(name)
	if want := []string{"B", "C"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("chosen are %q, %v, want %q", got, err, want)
	}
}

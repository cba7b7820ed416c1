package storetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/test/pg"
)

// The first data folder is kept under one name once it is whole, and the next one is a copy of it.
func TestTheDataFolderIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	bin, err := findServer()
	if err != nil {
		t.Fatal(err)
	}
	made := func() (dir string) {
		dir, err := os.MkdirTemp("", "bursar-cluster-") // which another user may enter
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		attr, err := pg.Unprivileged(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := newCluster(bin, dir, attr); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "data")
	}
	control := func(data string) string {
		text, err := os.ReadFile(filepath.Join(data, "global", "pg_control"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first, second := control(made()), control(made())
	if first != second {
		t.Error("the second folder was made again, want a copy of the first")
	}
	kept, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "bursar-nodes", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %q, %v, want one folder", kept, err)
	}
}

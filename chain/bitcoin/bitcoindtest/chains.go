package bitcoindtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// chains are data directories in which a node was prepared and then stopped. Each test begins with a copy: to mine the
// 432 blocks that Litecoin's extension needs takes a second of CPU time.
var chains struct {
	mu     sync.Mutex
	folder string // empty without Main
}

// Main runs a package's tests and then removes what they shared.
func Main(m *testing.M) {
	folder, err := os.MkdirTemp("", "bursar-chains-")
	if err != nil {
		panic(err)
	}
	chains.folder = folder
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// chainOf returns the data directory with the chain that tests begin with. The first test that asks makes it.
func chainOf(t testing.TB, s software) string {
	t.Helper()
	chains.mu.Lock()
	defer chains.mu.Unlock()
	made := filepath.Join(chains.folder, s.name)
	if _, err := os.Stat(made); err == nil {
		return made
	}
	n := startIn(t, s, t.TempDir())
	s.prepare(t, n)
	n.stop(t)
	if err := os.Rename(n.folder, made); err != nil {
		t.Fatal(err)
	}
	return made
}

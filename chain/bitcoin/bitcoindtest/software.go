package bitcoindtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// software is one kind of node.
type software struct {
	name          string
	override      string // the environment variable that names the program
	places        []string
	options       []string
	descriptors   bool // its wallets use descriptors
	matured       int  // blocks after which the wallet has several mature UTXOs
	confirmations int
	prepare       func(testing.TB, *Node) // makes the chain that tests begin with
	copied        bool                    // the chain may be copied from another node of this process
}

func bitcoind() software {
	s := software{
		name: "bitcoind", override: "BURSAR_BITCOIND", descriptors: true, matured: 105, confirmations: 3,
		prepare: func(t testing.TB, n *Node) { n.fund(t) }, copied: true,
	}
	if cache, err := os.UserCacheDir(); err == nil { // `go run ./test -install bitcoind` installs into it
		s.places = []string{filepath.Join(cache, "bursar-nodes", "bitcoind-*", "bitcoind")}
	}
	return s
}

// find returns the program: the one named by the environment, the one installed for the tests, or the one on the path.
func (s software) find(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(s.override); path != "" {
		return path
	}
	for _, place := range s.places {
		if found, _ := filepath.Glob(place); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	path, err := exec.LookPath(s.name)
	if err != nil {
		t.Fatalf("this test needs a real %s: run go run ./test -install %s, or set %s to its path, or skip such tests "+
			"with -short", s.name, s.name, s.override)
	}
	return path
}

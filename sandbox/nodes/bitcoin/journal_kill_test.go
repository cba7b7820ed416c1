package bitcoin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
)

// runChild pays, mines and reorganizes for ever and prints every answer.
func runChild(dir string) error {
	n, err := Start(context.Background(), Config{Options: host.Options{DataDir: dir}})
	if err != nil {
		return err
	}
	address, err := n.NewAddress()
	if err != nil {
		return err
	}
	for round := 0; ; round++ {
		id, err := n.Pay(address, 1_000)
		if err != nil {
			return err
		}
		fmt.Println("tx", id)
		hashes, err := n.Mine(round % 2)
		if err != nil {
			return err
		}
		for _, h := range hashes {
			fmt.Println("block", h)
		}
		if round%10 == 9 {
			if err := n.Reorg(5, nil); err != nil {
				return err
			}
			fmt.Println("height", n.Height())
		}
	}
}

// TestKill kills a node's process under load, several times over the same directory: everything that it has printed
// is there after a restart.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 4 {
		said := killAfter(t, dir, 60+40*round)
		n, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		pool := must[[]string](t, n, "getrawmempool")
		for _, line := range said {
			what, id, _ := strings.Cut(line, " ")
			switch what {
			case "tx":
				if a := rpc(t, n, "getrawtransaction", id); a.Error != nil && !slices.Contains(pool, id) {
					t.Errorf("transaction %s is lost: %v", id, a.Error)
				}
			case "block":
				must[any](t, n, "getblock", id)
			case "height":
				if reported, err := strconv.ParseInt(id, 10, 64); err != nil || n.Height() < reported {
					t.Errorf("height %d after the node printed %s, %v, want at least %v", n.Height(), id, err, reported)
				}
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfter runs a node until it has printed lines, kills it, and returns all it printed.
func killAfter(t *testing.T, dir string, lines int) (said []string) {
	t.Helper()
	c := hosttest.Start(t, dir)
	for range lines {
		said = append(said, c.Line())
	}
	return append(said, c.Kill()...)
}

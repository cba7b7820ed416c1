package solana_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

func TestMain(m *testing.M) { hosttest.Main(m, runChild) }

// runChild pays and mines for ever, and prints what it did.
func runChild(dir string) error {
	n, err := solana.Start(context.Background(), solana.Config{Options: host.Options{DataDir: dir}})
	if err != nil {
		return err
	}
	for {
		a := n.NewAddress()
		id, err := n.Pay(a, sol)
		if err != nil {
			return err
		}
		fmt.Println("paid", a, id)
		if err := n.Mine(1); err != nil {
			return err
		}
		fmt.Println("mined", a, id)
	}
}

// TestKill checks that everything that a process has answered survives a kill.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := hosttest.Start(t, dir)
	var notified []string
	for range 200 {
		notified = append(notified, child.Line())
	}
	notified = append(notified, child.Kill()...)
	n := start(t, solana.Config{Options: host.Options{DataDir: dir}})
	for _, line := range notified {
		field := strings.Fields(line)
		if field[0] == "mined" && balance(t, n, field[1]) != sol {
			t.Fatalf("%s is missing after the kill", line)
		}
	}
	mine(t, n, 1)
	for _, line := range notified {
		if field := strings.Fields(line); balance(t, n, field[1]) != sol {
			t.Fatalf("%s is missing after the kill", line)
		}
	}
}

package xrpl_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

const childDir = "BURSAR_TEST_XRPL_DIR" // set in the process to kill

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1) // the parent kills it earlier
	}
	os.Exit(m.Run())
}

// runChild pays, delivers and closes ledgers, and prints its state after each, until it is killed.
func runChild(dir string) error {
	n, err := xrpl.Start(context.Background(), xrpl.Config{DataDir: dir})
	if err != nil {
		return err
	}
	address := "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"
	for {
		if _, err := n.Pay(address+":7", 2_000_000); err != nil {
			return err
		}
		if _, err := n.Deliver(xrpl.Delivery{Kind: xrpl.PartialPayment, Address: address, Drops: 5, Asked: 500}); err != nil {
			return err
		}
		if err := n.Mine(1); err != nil {
			return err
		}
		open, err := n.Pay(address, 1_000_000)
		if err != nil {
			return err
		}
		balance, err := n.Balance(address)
		if err != nil {
			return err
		}
		fmt.Println(n.Height(), balance, open, n.Hash(n.Height()))
	}
}

// TestKillAtAnyMoment checks that everything that the node had answered when it was killed is there after a restart,
// the open ledger included.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 3 {
		height, balance, open, hash := runAndKill(t, dir, 10+round)
		n, err := xrpl.Start(t.Context(), xrpl.Config{DataDir: dir})
		check(t, err)
		if got := n.Hash(height); got != hash || n.Height() < height {
			t.Errorf("round %d: ledger %d is %s, %s had been answered; height %d", round, height, got, hash, n.Height())
		}
		if n.Height() == height {
			if got, err := n.Balance("rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"); err != nil || got != balance {
				t.Errorf("round %d: balance %d (%v), want %d", round, got, err, balance)
			}
		}
		mine(t, n, 1)
		want(t, ask(t, n.URL(), "tx", object{"transaction": open}), true, "validated")
		check(t, n.Close())
	}
}

// runAndKill lets a child print a few lines and kills it under load.
func runAndKill(t *testing.T, dir string, lines int) (height, balance uint64, open, hash string) {
	t.Helper()
	exe, err := os.Executable()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	scanner := bufio.NewScanner(out)
	for range lines {
		if !scanner.Scan() {
			t.Fatalf("the child ended: %v", scanner.Err())
		}
		if _, err := fmt.Sscan(scanner.Text(), &height, &balance, &open, &hash); err != nil {
			t.Fatalf("the child prints %q", scanner.Text())
		}
	}
	check(t, cmd.Process.Kill()) // kill -9
	_ = cmd.Wait()               // reports the kill
	return height, balance, open, hash
}

func TestTornAndDamagedJournals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := xrpl.Start(t.Context(), xrpl.Config{DataDir: dir})
	check(t, err)
	pay(t, n, n.NewAddress(), 5_000_000)
	hash := n.Hash(2)
	check(t, n.Close())
	path := filepath.Join(dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	check(t, err)
	for name, test := range map[string]struct {
		text  string
		start bool
	}{
		"torn":            {string(whole) + `{"op":"close","ti`, true},
		"damaged":         {string(whole) + "rubbish\n", false},
		"another network": {`{"op":"new","network":7}` + "\n", false},
		"an unknown op":   {string(whole) + `{"op":"dance"}` + "\n", false},
	} {
		check(t, os.WriteFile(path, []byte(test.text), 0o600))
		n, err := xrpl.Start(t.Context(), xrpl.Config{DataDir: dir})
		if (err == nil) != test.start {
			t.Fatalf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if n.Hash(2) != hash {
			t.Errorf("%s: ledger 2 is %s, was %s", name, n.Hash(2), hash)
		}
		mine(t, n, 1)
		check(t, n.Close())
	}
}

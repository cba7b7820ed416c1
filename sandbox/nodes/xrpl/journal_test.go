package xrpl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

func TestMain(m *testing.M) { hosttest.Main(m, runChild) }

// runChild pays, delivers and closes ledgers, and prints its state after each, until it is killed.
func runChild(dir string) error {
	n, err := xrpl.Start(context.Background(), xrpl.Config{Options: host.Options{DataDir: dir}})
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
		n, err := xrpl.Start(t.Context(), xrpl.Config{Options: host.Options{DataDir: dir}})
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
	c := hosttest.Start(t, dir)
	for range lines {
		line := c.Line()
		if _, err := fmt.Sscan(line, &height, &balance, &open, &hash); err != nil {
			t.Fatalf("the child prints %q", line)
		}
	}
	c.Kill()
	return height, balance, open, hash
}

func TestTornAndDamagedJournals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := xrpl.Start(t.Context(), xrpl.Config{Options: host.Options{DataDir: dir}})
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
		n, err := xrpl.Start(t.Context(), xrpl.Config{Options: host.Options{DataDir: dir}})
		if (err == nil) != test.start {
			t.Fatalf("%s: %v, want %v", name, err, test.start)
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

// TestAnEarlierJournalIsRead starts from a journal with every kind of record, which an earlier version wrote.
func TestAnEarlierJournalIsRead(t *testing.T) {
	t.Parallel()
	dir := hosttest.Earlier(t, "testdata/earlier.jsonl", "journal.jsonl")
	n, err := xrpl.Start(t.Context(), xrpl.Config{Options: host.Options{DataDir: dir}})
	check(t, err)
	t.Cleanup(func() { n.Close() })
	const head = "73558AB05DE94F784A9A904CA115F5A6D07568B58632AC0699A8C98DE9086BFC"
	if n.Hash(4) != head || n.Height() != 4 {
		t.Errorf("ledger 4 of %d is %s, want %s", n.Height(), n.Hash(4), head)
	}
	mine(t, n, 1)
	const paid = "rDPPRaqunouNyYutAaZDu9BYD5bCVhXudh"
	if got, err := n.Balance(paid); got != 22_000_005 || err != nil {
		t.Errorf("balance %d, %v, want 22_000_005", got, err)
	}
	for address, why := range map[string]string{paid: "its flag", "rGCQhXnFZu8iZfHRuv71JCQSkFynZcmqnS": "its refusal"} {
		if id, err := n.Pay(address, 20_000_000); err == nil {
			t.Errorf("%s was paid by %s in spite of %s, want an error", address, id, why)
		}
	}
}

// TestAClosedNodeChangesNothing also holds for one whose journal cannot be written: the journal refuses both.
func TestAClosedNodeChangesNothing(t *testing.T) {
	t.Parallel()
	n, err := xrpl.Start(t.Context(), xrpl.Config{})
	check(t, err)
	address := n.NewAddress()
	pay(t, n, address, 20_000_000)
	mine(t, n, 1)
	check(t, n.Close())
	_, paid := n.Pay(address, 5_000_000)
	_, delivered := n.Deliver(xrpl.Delivery{Kind: xrpl.PartialPayment, Address: address, Drops: 5, Asked: 500})
	for change, err := range map[string]error{
		"pay": paid, "deliver": delivered, "mine": n.Mine(1), "refuse": n.Refuse(address), "mark": n.Mark(address, 0x20000),
	} {
		if !errors.Is(err, host.ErrClosed) {
			t.Errorf("%s after Close: %v, want %v", change, err, host.ErrClosed)
		}
	}
	if got, err := n.Balance(address); n.Height() != 3 || got != 20_000_000 || err != nil {
		t.Errorf("height %d, balance %d, %v, want 3 and 20_000_000", n.Height(), got, err)
	}
}

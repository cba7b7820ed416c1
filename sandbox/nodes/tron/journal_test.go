package tron_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
	"github.com/bursar/bursar/sandbox/nodes/tron"
)

func TestMain(m *testing.M) { hosttest.Main(m, runChild) }

// runChild serves a node and executes commands until it is killed.
func runChild(dir string) error {
	n, err := tron.Start(context.Background(), tron.Config{Options: host.Options{DataDir: dir}})
	if err != nil {
		return err
	}
	fmt.Println(n.URL())
	return hosttest.Obey(func(words []string) (string, error) { return obey(n, words) })
}

func obey(n *tron.Node, words []string) (said string, err error) {
	number, err := strconv.Atoi(words[1])
	if err != nil {
		return "", err
	}
	switch words[0] {
	case "mine":
		return "", n.Mine(number)
	case "reorg":
		return "", n.Reorg(number, words[2:])
	case "pay":
		return n.Pay(words[2], int64(number))
	case "advance":
		return "", n.Advance(time.Duration(number) * time.Second)
	case "hold":
		return "", n.HoldSolid(number == 1)
	}
	return "", fmt.Errorf("unknown command: %q", words)
}

func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "chain")
	c := hosttest.Start(t, dir)
	url := c.Line()
	mined, waiting, dropped := externalAddress(t), externalAddress(t), externalAddress(t)
	c.Do("mine", 6)
	c.Do("pay", 5_000_000, mined)
	lost := c.Do("pay", 6_000_000, dropped)
	c.Do("mine", 2)
	c.Do("reorg", 3, lost)
	c.Do("advance", 86_400)
	c.Do("hold", 1)
	c.Do("mine", 1)
	c.Do("pay", 7_000_000, waiting)
	head, final := ask(t, url, "wallet/getnowblock", nil), ask(t, url, "walletsolidity/getnowblock", nil)
	c.Kill()

	n := start(t, tron.Config{Options: host.Options{DataDir: dir}})
	if got := ask(t, n.URL(), "wallet/getnowblock", nil); got["blockID"] != head["blockID"] || n.Height() != 11 {
		t.Fatalf("head %v at %d, want %v", got["blockID"], n.Height(), head["blockID"])
	}
	if got := ask(t, n.URL(), "walletsolidity/getnowblock", nil); got["blockID"] != final["blockID"] {
		t.Fatalf("solidified %v, want %v", got["blockID"], final["blockID"])
	}
	mine(t, n, 1)
	if got := time.Until(n.Time()); got < 23*time.Hour {
		t.Fatalf("the clock is only %v ahead", got)
	}
	if got := ask(t, n.URL(), "walletsolidity/getnowblock", nil); got["blockID"] != final["blockID"] {
		t.Fatalf("solidified %v though it is held", got["blockID"])
	}
	wantBalance(t, n, mined, 5_000_000)
	wantBalance(t, n, waiting, 7_000_000)
	wantBalance(t, n, dropped, 0)
}

func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var seen map[string]any
	for round := range 4 {
		c := hosttest.Start(t, dir)
		url := c.Line()
		target := heightOf(ask(t, url, "wallet/getnowblock", nil)) + 20*(round+1)
		c.Send("mine", 100_000)
		for seen == nil || heightOf(seen) < target { // killed as soon as a request shows this height
			seen = ask(t, url, "wallet/getnowblock", nil)
		}
		c.Kill()
		n, err := tron.Start(t.Context(), tron.Config{Options: host.Options{DataDir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		got := ask(t, n.URL(), "wallet/getblockbynum", map[string]any{"num": heightOf(seen)})
		if got["blockID"] != seen["blockID"] {
			t.Errorf("round %d: block %d is %v, and %v had been served", round, heightOf(seen), got["blockID"], seen["blockID"])
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJournalIgnoresTornTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := start(t, tron.Config{Options: host.Options{DataDir: dir}})
	mine(t, n, 2)
	head := ask(t, n.URL(), "wallet/getnowblock", nil)["blockID"]
	path := filepath.Join(dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		tail string
		ok   bool
	}{"torn": {`{"mine":17`, true}, "nonsense": {"nonsense\n", false}, "untrue": {`{"tx":"00"}` + "\n", false}} {
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, "journal.jsonl"), append(whole[:len(whole):len(whole)], test.tail...),
			0o600); err != nil {
			t.Fatal(err)
		}
		again, err := tron.Start(t.Context(), tron.Config{Options: host.Options{DataDir: other}})
		if (err == nil) != test.ok {
			t.Fatalf("%s: %v, want %v", name, err, test.ok)
		}
		if !test.ok {
			continue
		}
		if got := ask(t, again.URL(), "wallet/getnowblock", nil)["blockID"]; got != head {
			t.Errorf("%s: head %v, want %v", name, got, head)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnEarlierJournalIsRead starts from a journal with every kind of record, which an earlier version wrote.
func TestAnEarlierJournalIsRead(t *testing.T) {
	t.Parallel()
	dir := hosttest.Earlier(t, "testdata/earlier.jsonl", "journal.jsonl")
	n := start(t, tron.Config{Options: host.Options{DataDir: dir}})
	const head = "00000000000000088f6f46b82187d6e11a48eb6334033a69ad3d15ebb0c815f1"
	if got := ask(t, n.URL(), "wallet/getnowblock", nil)["blockID"]; got != head || n.Height() != 8 {
		t.Errorf("head %v at %d, want %s", got, n.Height(), head)
	}
	mine(t, n, 1)
	wantBalance(t, n, "TK7kdkW73uXR5qSLDVcuMk9NU5c2i2ZjcY", 5_000_000)
	wantBalance(t, n, "TE4RK6dNcogJNPhu9uU47JwVCqDM8aEPwN", 0) // its payment was dropped
	wantBalance(t, n, "TXYPiiyctrqvUKPwmS7FCWryavLuyR5xia", 7_000_000)
}

// TestAClosedNodeChangesNothing also holds for one whose journal cannot be written: the journal refuses both.
func TestAClosedNodeChangesNothing(t *testing.T) {
	t.Parallel()
	n := start(t, tron.Config{})
	mine(t, n, 2)
	height := n.Height()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	_, paid := n.Pay(externalAddress(t), 5_000_000)
	for change, err := range map[string]error{
		"pay": paid, "mine": n.Mine(1), "reorg": n.Reorg(1, nil), "advance": n.Advance(time.Hour), "hold": n.HoldSolid(true),
	} {
		if !errors.Is(err, host.ErrClosed) {
			t.Errorf("%s after Close: %v, want %v", change, err, host.ErrClosed)
		}
	}
	if n.Height() != height {
		t.Errorf("height %d, want %d", n.Height(), height)
	}
}

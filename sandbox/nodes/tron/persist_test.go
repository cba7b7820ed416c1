package tron_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/nodes/tron"
)

const childDir = "BURSAR_TEST_TRON_DIR" // set in the process to kill

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1) // the parent kills it earlier
	}
	os.Exit(m.Run())
}

// runChild serves a node and executes commands from its standard input until it is killed.
func runChild(dir string) error {
	n, err := tron.Start(context.Background(), tron.Config{DataDir: dir})
	if err != nil {
		return err
	}
	fmt.Println(n.URL())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		said, err := obey(n, strings.Fields(lines.Text()))
		if err != nil {
			return err
		}
		fmt.Println("done", said)
	}
	return nil
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

// child is a node in a process of its own.
type child struct {
	t    *testing.T
	url  string
	cmd  *exec.Cmd
	in   *os.File
	outs *bufio.Scanner
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { write.Close() })
	cmd.Stdin = read
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read.Close()
	c := &child{t: t, cmd: cmd, in: write, outs: bufio.NewScanner(out)}
	c.url = c.line()
	return c
}

func (c *child) line() string {
	c.t.Helper()
	if !c.outs.Scan() {
		c.t.Fatalf("the node's process ended: %v", c.outs.Err())
	}
	return c.outs.Text()
}

// do sends a command and returns what the child adds to its answer.
func (c *child) do(words ...any) string {
	c.t.Helper()
	fmt.Fprintln(c.in, words...)
	said, done := strings.CutPrefix(c.line(), "done")
	if !done {
		c.t.Fatalf("%v: %s", words, said)
	}
	return strings.TrimSpace(said)
}

// kill is kill -9.
func (c *child) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.cmd.Wait() // reports the kill
}

func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "chain")
	c := startChild(t, dir)
	mined, waiting, dropped := externalAddress(t), externalAddress(t), externalAddress(t)
	c.do("mine", 6)
	c.do("pay", 5_000_000, mined)
	lost := c.do("pay", 6_000_000, dropped)
	c.do("mine", 2)
	c.do("reorg", 3, lost)
	c.do("advance", 86_400)
	c.do("hold", 1)
	c.do("mine", 1)
	c.do("pay", 7_000_000, waiting)
	head, final := ask(t, c.url, "wallet/getnowblock", nil), ask(t, c.url, "walletsolidity/getnowblock", nil)
	c.kill()

	n := start(t, tron.Config{DataDir: dir})
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
		c := startChild(t, dir)
		target := heightOf(ask(t, c.url, "wallet/getnowblock", nil)) + 20*(round+1)
		fmt.Fprintln(c.in, "mine", 100_000)
		for seen == nil || heightOf(seen) < target { // killed as soon as a request shows this height
			seen = ask(t, c.url, "wallet/getnowblock", nil)
		}
		c.kill()
		n, err := tron.Start(t.Context(), tron.Config{DataDir: dir})
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
	n := start(t, tron.Config{DataDir: dir})
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
		again, err := tron.Start(t.Context(), tron.Config{DataDir: other})
		if (err == nil) != test.ok {
			t.Fatalf("%s: %v", name, err)
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

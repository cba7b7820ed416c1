// Package hosttest provides what the tests of several nodes need: a node in a process of its own, to be killed; a data
// directory with a journal that was recorded; and a simulator behind a load balancer whose nodes lag.
//
// It owns that process and never a chain: the process is the test binary itself, started again, in which Main runs the
// node in place of the tests. A test reads what the node prints, may send it commands, and kills it.
package hosttest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// variable names the data directory in the environment of a child.
const variable = "BURSAR_TEST_NODE_DIR"

// Main runs the tests, or, in a child, run with the child's data directory. TestMain calls it.
func Main(m *testing.M, run func(dir string) error) {
	if dir := os.Getenv(variable); dir != "" {
		if err := run(dir); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1) // the parent kills it earlier
	}
	os.Exit(m.Run())
}

// Obey executes the commands that the parent sends with Do and Send, until it is killed. What do returns is printed
// after "done".
func Obey(do func(words []string) (string, error)) error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		said, err := do(strings.Fields(lines.Text()))
		if err != nil {
			return err
		}
		fmt.Println("done", said)
	}
	return nil
}

// Child is a node in a process of its own.
type Child struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

// Start runs a node on a data directory. It is killed at the end of the test at the latest.
func Start(t testing.TB, dir string) *Child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), variable+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &Child{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

// Line is the next line that the child prints.
func (c *Child) Line() string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the node's process ended: %v", c.out.Err())
	}
	return c.out.Text()
}

// Send sends a command and does not wait for it.
func (c *Child) Send(words ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, words...); err != nil {
		c.t.Fatal(err)
	}
}

// Do sends a command, waits until it is done and returns what the child adds to its answer.
func (c *Child) Do(words ...any) string {
	c.t.Helper()
	c.Send(words...)
	said, done := strings.CutPrefix(c.Line(), "done")
	if !done {
		c.t.Fatalf("%v: %s", words, said)
	}
	return strings.TrimSpace(said)
}

// Kill is kill -9. It returns the lines that the child had printed and that nobody has read.
func (c *Child) Kill() (rest []string) {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	for c.out.Scan() {
		rest = append(rest, c.out.Text())
	}
	if err := c.cmd.Wait(); err == nil || c.cmd.ProcessState.Exited() {
		c.t.Fatalf("the node's process ended by itself: %v", err)
	}
	return rest
}

// Earlier is a data directory with the journal of that name that an earlier version of the node wrote.
func Earlier(t testing.TB, recorded, name string) (dir string) {
	t.Helper()
	raw, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

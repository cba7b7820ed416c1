package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const passphrase = "correct horse battery staple"

// harness is a folder with a configuration, in which the program is run.
type harness struct {
	*testing.T
	folder string
	env    []string
}

func newHarness(t *testing.T, lines ...string) *harness {
	t.Helper()
	folder, err := os.MkdirTemp("", "bursar") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	b := &harness{T: t, folder: folder, env: []string{"BURSAR_PASSPHRASE_FILE=passphrase"}}
	b.write("passphrase", passphrase)
	b.write("bursar.yaml", strings.Join(append([]string{"network: regtest"}, lines...), "\n"))
	return b
}

func (b *harness) write(name, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, name), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// run runs the program, and returns its output, what it says besides, and its exit code.
func (b *harness) run(args ...string) (out, says string, code int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = b.folder, append([]string{"HOME=" + b.folder}, b.env...), &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil || ctx.Err() != nil {
		b.Fatalf("bursar-signer %v: %v", args, err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// The program does what `bursar signer` and `bursar seed` do, and calls it by the names it has here.
func TestTheSignersOwnProgramDoesWhatItsCommandsDo(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	if _, says, code := b.run("status"); code != 1 ||
		!strings.HasPrefix(says, "bursar-signer: the signer has no state file") {
		t.Errorf("status without a state exits with %d: %s", code, says)
	}
	if _, says, code := b.run("seed", "check"); code != 1 ||
		!strings.Contains(says, "create one with `bursar-signer seed new`") {
		t.Errorf("seed check without a seed exits with %d: %s", code, says)
	}
	words, says, code := b.run("seed", "new")
	if code != 0 || len(strings.Fields(words)) != 24 {
		t.Fatalf("seed new exits with %d: %s, want 0 and 24 of them", code, says)
	}
	checked, says, code := b.run("seed", "check")
	if code != 0 || !strings.Contains(checked, "fingerprint is ") {
		t.Errorf("seed check exits with %d: %s %s, want 0 and %q in it", code, checked, says, "fingerprint is ")
	}
	if _, says, code := b.run("freeze", "--reason", "a drill"); code != 0 ||
		!strings.Contains(says, "until `bursar-signer thaw`") {
		t.Errorf("freeze exits with %d: %s, want 0 and %q in it", code, says, "until `bursar-signer thaw`")
	}
	if out, _, code := b.run("status"); code != 0 || !strings.Contains(out, "a drill") {
		t.Errorf("status exits with %d: %s, want 0 and %q in it", code, out, "a drill")
	}
	if _, says, code := b.run(); code != 2 || !strings.Contains(says, "signer.address is not configured") {
		t.Errorf("without an address it exits with %d: %s", code, says)
	}
}

func TestHelpNamesTheCommandsAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	for _, name := range []string{"", "run", "init", "status", "policy", "freeze", "thaw", "begin-again", "seed new",
		"seed restore", "seed check", "seed export-public", "seed export-watch-only", "version"} {
		out, says, code := b.run(append(strings.Fields(name), "--help")...)
		if code != 0 || !strings.Contains(out, "Usage: bursar-signer") || strings.Contains(out, "bursar signer") ||
			strings.Contains(out, "bursar seed") {
			t.Errorf("%s --help exits with %d, says %q and prints\n%s, want 0 and %q in it and no %q and no %q", name, code,
				says, out, "Usage: bursar-signer", "bursar signer", "bursar seed")
		}
	}
}

package main

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestTheSuggestedCommandsWork runs the commands that the sandbox suggests as they are printed, by a shell with
// curl: create a wallet, pay it, read the balance.
func TestTheSuggestedCommandsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("needs curl and a whole sandbox: left out by -short")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("this test needs curl: run go run ./test -install curl, or leave such tests out with -short")
	}
	t.Parallel()
	lines := suggested(t)
	if len(lines) != 3 {
		t.Fatalf("the sandbox suggests %q, want three commands", lines)
	}
	paid := shell(t, lines[0]+"\n"+lines[1])
	if !strings.Contains(paid, `"hashID"`) {
		t.Fatalf("the payment is answered %s, want a transaction", paid)
	}
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		balance := shell(t, lines[2])
		if strings.Contains(balance, `"balance":{"BTC":"1.00000000"`) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the balance is still %s, want the payment", balance)
		case <-tick.C:
		}
	}
}

// suggested runs a sandbox until the test ends and returns the commands that it suggests.
func suggested(t *testing.T) (lines []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, append(anyPort, "--chains", "bitcoin"), writer, io.Discard)
		writer.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the sandbox ended with %v", err)
		}
	})
	said := bufio.NewScanner(reader)
	for len(lines) < 3 && said.Scan() {
		if line := strings.TrimSpace(said.Text()); strings.Contains(line, "curl ") {
			lines = append(lines, line)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return lines
}

func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-euc", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

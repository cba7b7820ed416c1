//go:build unix

package signer

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// The environment of a process that kills itself: the state file and the number of the step.
const (
	killedState = "BURSAR_TEST_KILLED_STATE"
	killedStep  = "BURSAR_TEST_KILLED_STEP"
)

// killable is the signer that is killed, and its policy.
func killable(t *testing.T) *harness {
	return newHarness(t, limited(func(p *Bounds) {
		p.Payments = map[string]Limits{"": {Hour: bursar.Units(1000)}, "token": {Hour: bursar.Units(1000)}}
		p.Fees = Limits{Day: bursar.Units(100_000)}
	}))
}

// TestOneSignatureInAProcess is the process that TestKilledAtEveryStatement runs: it signs, and kills itself before a
// step. It prints its signature, which is what would have left.
func TestOneSignatureInAProcess(t *testing.T) {
	path := os.Getenv(killedState)
	if path == "" {
		t.Skip("it is run by TestKilledAtEveryStatement, in a process of its own")
	}
	n, err := strconv.Atoi(os.Getenv(killedStep))
	if err != nil {
		t.Fatal(err)
	}
	b := killable(t)
	file := b.reopen(path)
	step := 0
	file.OnStep(func(string) error {
		if step++; step == n {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until it arrives
		}
		return nil
	})
	signed, err := b.sign(b.withUTXOs())
	b.must(err)
	if _, err := os.Stdout.WriteString("LEFT " + string(signed.Raw) + "\n"); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAtEveryStatement kills a process with SIGKILL before each statement that writes, before the commit and
// behind it. What left is counted; after a restart the same bytes give the same signature, and count once.
//
// It runs alone: a process that is being started holds, for a moment, the locks of files that others have open.
func TestKilledAtEveryStatement(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each statement")
	}
	kills := 0
	for n := 1; ; n++ {
		b := killable(t)
		path := filepath.Join(t.TempDir(), "state")
		b.must(memory.Create(t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now()}))
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneSignatureInAProcess$", "-test.v")
		child.Env = append(os.Environ(), killedState+"="+path, killedStep+"="+strconv.Itoa(n))
		out, err := child.CombinedOutput()
		left := strings.Contains(string(out), "LEFT ")
		if err == nil {
			if !left {
				t.Fatalf("it says %s", out)
			}
			break // there are fewer steps
		}
		if status, is := child.ProcessState.Sys().(syscall.WaitStatus); !is || status.Signal() != syscall.SIGKILL {
			t.Fatalf("step %d: %v: %s", n, err, out)
		}
		if left {
			t.Errorf("step %d: a signature left before it was durable: %s", n, out)
		}
		kills = n
		file := b.reopen(path)
		first, err := b.sign(b.withUTXOs())
		b.must(err)
		if second, err := b.sign(b.withUTXOs()); err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("step %d: signed twice in two ways, %v", n, err)
		}
		wantCountedOnce(t, file, b.withUTXOs(), 1, n)
	}
	if kills < 9 {
		t.Errorf("it was killed at %d steps, want at least 9", kills)
	}
}

package solana_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/litesvm"
	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

func startVM(t *testing.T) *litesvm.VM {
	t.Helper()
	if testing.Short() {
		t.Skip("needs node and litesvm")
	}
	vm, err := litesvm.Start(t.Context(), litesvm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vm.Close() })
	return vm
}

// TestLiteSVMRunsPrograms checks that the real machine runs what the simulator cannot, here the memo program's code,
// and that the node reports which machine runs.
func TestLiteSVMRunsPrograms(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{VM: startVM(t)})
	id, err := n.Pay(n.NewAddress(), sol) // with a memo
	if err != nil {
		t.Fatal(err)
	}
	mine(t, n, 6)
	meta := get(t, n, "getTransaction", id).(object)["meta"].(object)
	if logs := text(t, meta["logMessages"]); !strings.Contains(logs, "Program log: Memo (len") ||
		!strings.Contains(logs, "consumed") {
		t.Fatalf("the memo program logs %s, want %q in it and %q in it", logs, "Program log: Memo (len", "consumed")
	}
	if version := text(t, get(t, n, "getVersion")); !strings.Contains(version, "litesvm") {
		t.Fatalf("the version is %s, want %q in it", version, "litesvm")
	}
}

// TestLiteSVMEnds checks that a block whose machine ends in the middle is undone: there is no half-made block, and
// whatever waited still waits.
func TestLiteSVMEnds(t *testing.T) {
	t.Parallel()
	vm := startVM(t)
	n := start(t, solana.Config{VM: vm})
	w := newWallet(1)
	for range 3 {
		if _, err := n.Pay(w.address(), 2*sol); err != nil {
			t.Fatal(err)
		}
		mine(t, n, 2)
	}
	before := state(t, n, w.address())
	there := n.NewAddress()
	if _, err := n.Pay(there, sol); err != nil {
		t.Fatal(err)
	}
	if err := vm.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(1); err == nil {
		t.Fatal("a block was made without a machine")
	}
	if err := n.Rollback(5, nil); err == nil {
		t.Fatal("blocks were replaced without a machine")
	}
	if after := state(t, n, w.address()); after != before || balance(t, n, there) != 0 {
		t.Fatalf("the chain was\n%s\nand is\n%s", before, after)
	}
	hash := latest(t, n, "finalized")
	if _, code, message, _ := (plan{from: w, to: there, lamports: 1, blockhash: hash}).send(t, n,
		object{}); code != -32603 {
		t.Fatalf("a preflight simulation without a machine: error %d: %s", code, message)
	}
}

// TestRestartOnLiteSVM checks that the journal makes the same chain again in another machine.
func TestRestartOnLiteSVM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vm := startVM(t)
	n, addresses := busy(t, solana.Config{Options: host.Options{DataDir: dir}, FinalityDepth: 8, VM: vm})
	before := state(t, n, addresses...)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, solana.Config{Options: host.Options{DataDir: dir}, FinalityDepth: 8, VM: startVM(t)})
	if after := state(t, again, addresses...); after != before {
		t.Fatalf("the chain was\n%s\nand is\n%s", before, after)
	}
}

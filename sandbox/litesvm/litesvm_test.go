package litesvm_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/litesvm"
)

func start(t *testing.T, cfg litesvm.Config) *litesvm.VM {
	t.Helper()
	if testing.Short() {
		t.Skip("needs node and litesvm")
	}
	vm, err := litesvm.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vm.Close() })
	return vm
}

// TestAccounts checks that accounts come back as they were given, that one without lamports does not exist, and that
// lamports are exact up to the last one.
func TestAccounts(t *testing.T) {
	t.Parallel()
	vm := start(t, litesvm.Config{})
	owner := make([]byte, 32)
	full := litesvm.Account{Key: bytes.Repeat([]byte{1}, 32), Lamports: 1<<64 - 1, Owner: owner, Data: []byte{1, 2, 3}}
	none := litesvm.Account{Key: bytes.Repeat([]byte{2}, 32), Owner: bytes.Repeat([]byte{9}, 32), Data: []byte{1}}
	if err := vm.Set(full, none); err != nil {
		t.Fatal(err)
	}
	got, err := vm.Read(full.Key, none.Key)
	if err != nil {
		t.Fatal(err)
	}
	if a := got[0]; a.Lamports != full.Lamports || !bytes.Equal(a.Data, full.Data) || !bytes.Equal(a.Owner, owner) ||
		a.Executable {
		t.Errorf("read %+v", a)
	}
	if a := got[1]; a.Lamports != 0 || len(a.Data) != 0 || !bytes.Equal(a.Owner, owner) {
		t.Errorf("a missing account is read as %+v", a)
	}
	program := litesvm.Account{Key: full.Key, Lamports: 1, Owner: owner, Executable: true}
	if err := vm.Set(program); err == nil || !strings.Contains(err.Error(), "litesvm refuses to set") {
		t.Errorf("a program without code was set: %v", err)
	}
	if _, err := vm.Read(full.Key); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

// TestBlockhashes checks that a machine with a ledger has one blockhash at a time.
func TestBlockhashes(t *testing.T) {
	t.Parallel()
	vm := start(t, litesvm.Config{Ledger: true})
	first, err1 := vm.Blockhash()
	same, err2 := vm.Blockhash()
	second, err3 := vm.Expire()
	if err := errors.Join(err1, err2, err3); err != nil || first != same || first == second || first == "" {
		t.Fatalf("%q, %q, %q, %v", first, same, second, err)
	}
}

// TestAnEndedMachineSaysWhy checks that what ends the library ends the machine, and every call afterwards returns the
// reason.
func TestAnEndedMachineSaysWhy(t *testing.T) {
	t.Parallel()
	vm := start(t, litesvm.Config{})
	if _, err := vm.Send(litesvm.Order{Raw: []byte{1, 2, 3}}); err == nil ||
		!strings.Contains(err.Error(), "litesvm ended") {
		t.Fatalf("a malformed transaction is executed: %v, want an error and %q in it", err, "litesvm ended")
	}
	if _, err := vm.Blockhash(); err == nil || !strings.Contains(err.Error(), "litesvm ended") {
		t.Fatalf("after its end: %v, want an error and %q in it", err, "litesvm ended")
	}
	if err := vm.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := vm.Blockhash(); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("after Close: %v, want %v", err, os.ErrClosed)
	}
}

// TestStartsThatFail checks that a failed start says what to do, and leaves no process behind.
func TestStartsThatFail(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs node")
	}
	empty := t.TempDir()
	if _, err := litesvm.Start(t.Context(), litesvm.Config{Folder: empty}); err == nil ||
		!strings.Contains(err.Error(), empty) {
		t.Errorf("in an empty directory: %v, want an error and %v in it", err, empty)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := litesvm.Start(over, litesvm.Config{}); err == nil {
		t.Error("a machine started after its context had ended, want an error")
	}
}

func TestFind(t *testing.T) {
	t.Setenv("BURSAR_LITESVM", t.TempDir())
	if _, err := litesvm.Find(); err == nil || !strings.Contains(err.Error(), "go run ./test -install litesvm") {
		t.Fatalf("found a library that is missing: %v", err)
	}
}

package tpm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A counter only rises: by one, above every counter that was removed before it, and past a loss of power.
func TestACounterOnlyRises(t *testing.T) {
	t.Parallel()
	folder := stateFolder(t)
	device, kill := start(t, folder)
	c, value, err := MakeCounter(t.Context(), device)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 { // past a value that the TPM writes into its flash memory
		next, err := c.Raise(t.Context())
		if err != nil || next != value+1 {
			t.Fatalf("raised from %d to %d, %v, want by 1", value, next, err)
		}
		value = next
	}
	again, err := CounterAt(device, c.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Value(t.Context()); err != nil || got != value {
		t.Errorf("by its name it holds %d, %v, want %d", got, err, value)
	}
	kill() // without TPM2_Shutdown
	device, _ = start(t, folder)
	if c, err = CounterAt(device, c.Name()); err != nil {
		t.Fatal(err)
	}
	after, err := c.Value(t.Context())
	if err != nil || after < value || after > value+256 {
		t.Errorf("after a loss of power it holds %d, %v, want %d to 256 more", after, err, value)
	}
	t.Logf("it held %d before and %d after", value, after)
	if err := c.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Value(t.Context()); !errors.Is(err, ErrNoCounter) {
		t.Errorf("once it is removed: %v, want %v", err, ErrNoCounter)
	}
	if _, first, err := MakeCounter(t.Context(), device); err != nil || first <= after {
		t.Errorf("another counter begins at %d, %v, want more than %d", first, err, after)
	}
}

func TestWhatIsNoCounter(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "tpm:", "tpm:0x", "tpm:0x01000000", "tpm:0x01c00000", "0x01800000",
		"tpm:0x0180000g"} {
		if _, err := CounterAt("none", name); !errors.Is(err, ErrCounterName) {
			t.Errorf("%q: %v, want %v", name, err, ErrCounterName)
		}
	}
	c, err := CounterAt(filepath.Join(t.TempDir(), "none"), "tpm:0x01800000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Raise(t.Context()); !errors.Is(err, ErrNoTPM) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a TPM: %v, want %v", err, ErrNoTPM)
	}
	if c, err = CounterAt(emulator(t), "tpm:0x01800000"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Raise(t.Context()); !errors.Is(err, ErrNoCounter) {
		t.Errorf("of another TPM: %v, want %v", err, ErrNoCounter)
	}
}

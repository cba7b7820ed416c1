package signer

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// A crash before the commit leaves a frozen signer and the order unused; one behind it leaves the order in force, as
// its file says, though no answer came.
func TestACrashWhileACompromiseOrderIsUsed(t *testing.T) {
	t.Parallel()
	crash := errors.New("killed")
	for _, moment := range []string{"commit", "committed"} {
		d := newCompromiseFixture(t)
		c := d.compromise()
		d.file.OnStep(func(what string) error {
			if what == moment {
				return crash
			}
			return nil
		})
		if err := d.useText(c.Text(), ann, bob); !errors.Is(err, crash) {
			t.Fatalf("%s: got %v, want %v", moment, err, crash)
		}
		d.file.OnStep(nil)
		d.again()
		d.must(memory.Agree(t.Context(), d.file)) // as at each start
		d.wantReason(d.withNonce(), ReasonFrozen)
		if moment == "commit" {
			d.wantReason(costing(d.toCold("vault", 1), 1, 1), ReasonFrozen)
			d.use(c)
		} else if err := d.useText(c.Text(), ann, bob); !errors.Is(err, people.ErrUsed) {
			t.Errorf("%s: used again: got %v, want %v", moment, err, people.ErrUsed)
		}
		d.wantReason(costing(d.toCold("vault", 2), 2, 1), "")
	}
}

// An export has that an order was used: merged into a copy of the state that has not seen it, the order is used there
// too.
func TestAnExportKnowsThatACompromiseOrderWasUsed(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	c := d.compromise()
	copied := copyState(t, d.path)
	d.use(c)
	var export bytes.Buffer
	_, err := d.file.Export(t.Context(), &export, func([]byte) []byte { return []byte("sealed") })
	d.must(err)
	_, err = memory.Import(t.Context(), copied, memory.Init{Fingerprint: "seed", At: d.clock.Now()}, &export,
		func(_, _ []byte) error { return nil }, nil, "op", "test")
	d.must(err)
	d.file = d.reopen(copied)
	if err := d.useText(c.Text(), ann, bob); !errors.Is(err, people.ErrUsed) {
		t.Errorf("used on the other machine: got %v, want %v", err, people.ErrUsed)
	}
	d.wantReason(costing(d.toCold("vault", 1), 1, 1), ReasonFrozen) // that it is in force is in no export
}

// A copy of the state from before the order was used has forgotten it: the signer notices, as it notices each copy, and
// once it begins again the order is of another instance.
func TestAStateSetBackDoesNotBringAUsedOrderBack(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	c := d.compromise()
	d.close()
	before, err := os.ReadFile(d.path)
	d.must(err)
	d.harness.signer = nil
	file, err := memory.Open(t.Context(), d.path, "seed")
	d.must(err)
	d.restart(file)
	d.file = file
	d.use(c)
	d.wantReason(costing(d.toCold("vault", 1), 1, 1), "")
	seen := d.signer.Checkpoint()
	d.must(d.file.Close())
	for _, name := range []string{d.path, d.path + ".frozen", d.path + "-wal", d.path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	d.must(os.WriteFile(d.path, before, 0o600))
	file, err = memory.Open(t.Context(), d.path, "seed")
	d.must(err)
	d.restart(file)
	d.file = file
	d.must(d.signer.Know(seen))
	d.use(c) // it was forgotten
	d.wantReason(costing(d.toCold("vault", 2), 2, 1), ReasonSetBack)
	d.must(d.file.Close())
	d.must(memory.BeginAgain(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now()}, "op", "test"))
	file, err = memory.Open(t.Context(), d.path, "seed")
	d.must(err)
	t.Cleanup(func() { file.Close() })
	d.restart(file)
	d.file = file
	d.must(memory.Agree(t.Context(), d.file))
	d.wantReason(costing(d.toCold("vault", 2), 2, 1), ReasonFrozen) // it is in force no more
	if err := d.useText(c.Text(), ann, bob); !errors.Is(err, people.ErrOther) {
		t.Errorf("used again: got %v, want %v", err, people.ErrOther)
	}
}

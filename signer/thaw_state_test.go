package signer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// An older copy of the state, of which the marker or nothing is put back with it, does not thaw: the marker is another,
// or the thaw's time is long over.
func TestAnOlderStateDoesNotThaw(t *testing.T) {
	t.Parallel()
	for name, long := range map[string]time.Duration{
		"beside a newer marker": 2 * time.Hour, "after a day": 26 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newThawFixture(t)
			d.must(d.file.Close())
			older := copyState(t, d.path)
			marker, err := os.ReadFile(d.path + ".frozen")
			d.must(err)
			info, err := os.Stat(d.path + ".frozen")
			d.must(err)
			d.again()
			d.freezes(cat)
			d.must(d.file.Close())
			d.path = older
			if long > 24*time.Hour { // everything was put back, with its times
				d.must(errors.Join(os.WriteFile(older+".frozen", marker, 0o600),
					os.Chtimes(older+".frozen", info.ModTime(), info.ModTime())))
			} else {
				d.must(memory.Stop(older, memory.Freeze{At: d.clock.Now(), Who: "cat", Why: "a key is gone"}))
			}
			d.again()
			d.must(memory.Agree(t.Context(), d.file))
			d.wantFrozen(long, false)
			d.wantFrozen(time.Hour, false)
		})
	}
}

// A state that begins again has no thaw that waits, and one into which another is merged has none either.
func TestAStateThatBeginsAgainOrIsMergedForgetsTheThaw(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	d.must(d.file.Close())
	init := memory.Init{Fingerprint: "seed", At: d.clock.Now()}
	d.must(memory.BeginAgain(t.Context(), d.path, init, "eve", "x"))
	d.again()
	d.wantFrozen(2*time.Hour, false)

	d = newThawFixture(t)
	var export strings.Builder
	_, err := d.file.Export(t.Context(), &export, func([]byte) []byte { return []byte{1} })
	d.must(errors.Join(err, d.file.Close()))
	_, err = memory.Import(t.Context(), d.path, init, strings.NewReader(export.String()),
		func([]byte, []byte) error { return nil }, nil, "eve", "x")
	d.must(err)
	d.again()
	d.wantFrozen(2*time.Hour, false)

	other := filepath.Join(t.TempDir(), "other")
	d.must(memory.Create(t.Context(), other, init))
	_, err = memory.Import(t.Context(), other, init, strings.NewReader(export.String()),
		func([]byte, []byte) error { return nil }, nil, "eve", "x")
	d.must(err)
	d.path = other
	d.again()
	d.must(memory.Agree(t.Context(), d.file))
	d.wantFrozen(2*time.Hour, false)
}

// The machine stops at each statement of what takes a thaw or carries it out: the signer is frozen until the hour is
// over and thawed after it, and what was cut off can be done again.
func TestAThawIsWholeAfterACrash(t *testing.T) {
	t.Parallel()
	kills := 0
	for n := 1; ; n++ {
		d := newPolicyFixture(t, func(p *roster.Policy) { p.Network = "mainnet" })
		d.freezes(ann)
		if !d.killedAt(n, func() error { return d.thaws(ann, bob) }) {
			break
		}
		kills++
		d.wantFrozen(0, !d.waits().IsZero())
		if d.waits().IsZero() {
			d.must(d.thaws(ann, bob))
		}
		d.look()
		d.wantFrozen(time.Hour-time.Second, true)
		d.wantThawed(time.Second)
	}
	for n := 1; ; n++ {
		d := newThawFixture(t)
		d.clock.Advance(time.Hour)
		due := func() error {
			_, err := d.signer.ThawDue(context.WithoutCancel(t.Context()), d.clock.Now())
			return err
		}
		if !d.killedAt(n, due) {
			break
		}
		kills++
		d.wantThawed(0)
		d.freezes(cat)
		d.wantFrozen(2*time.Hour, false)
	}
	if kills < 20 {
		t.Errorf("it was killed at %d steps, want at least 20", kills)
	}
}

// killedAt does something that is killed at its step n, and restarts the signer. It reports whether there is such a
// step.
func (d *policyFixture) killedAt(n int, do func() error) (killed bool) {
	d.t.Helper()
	step := 0
	d.file.OnStep(func(string) error {
		if step++; step >= n {
			return errKilled
		}
		return nil
	})
	err := do()
	if err != nil && !errors.Is(err, errKilled) {
		d.t.Fatalf("killed at step %d: got %v, want %v", n, err, errKilled)
	}
	d.file.OnStep(nil)
	d.newProcess()
	return err != nil
}

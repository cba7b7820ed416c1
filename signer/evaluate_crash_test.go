package signer

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// copyState copies a state file with its log, as a killed process leaves them.
func copyState(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

var errKilled = errors.New("killed")

// Killed at any statement of the first signature, of a fee bump or of a spend of UTXOs, a signer gives the same bytes
// the same signature after its restart, and counts them once.
func TestACrashAtEveryStatement(t *testing.T) {
	t.Parallel()
	for name, requests := range map[string]func(b *harness) []request{
		"a payment":  func(b *harness) []request { return []request{costing(b.withNonce(), 1, 5)} },
		"a fee bump": func(b *harness) []request { return []request{costing(b.sweep(), 1, 5), costing(b.sweep(), 1, 9)} },
		"UTXOs":      func(b *harness) []request { return []request{b.withUTXOs()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for n := 1; crash(t, n, requests); n++ {
				kills = n
			}
			if kills < 7 {
				t.Errorf("it was killed at %d steps, want at least 7", kills)
			}
		})
	}
}

// crash kills the signer at step n of the last request, and reports whether there is such a step.
func crash(t *testing.T, n int, requests func(b *harness) []request) (killed bool) {
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Day: bursar.Units(100_000)} }))
	path := b.stateFile(false)
	list := requests(b)
	for _, r := range list[:len(list)-1] {
		b.wantReason(r, "")
	}
	last, left := list[len(list)-1], ""
	b.close()
	file, err := memory.Open(t.Context(), path, "seed")
	b.must(err)
	defer file.Close()
	b.restart(file)
	step := 0
	file.OnStep(func(string) error {
		if step++; step != n {
			return nil
		}
		left = copyState(t, path)
		return errKilled
	})
	if _, err = b.sign(last); left == "" {
		return false
	}
	if !errors.Is(err, errKilled) {
		t.Fatalf("killed at step %d it returns %v, want %v", n, err, errKilled)
	}
	after := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Day: bursar.Units(100_000)} }))
	again := after.reopen(left)
	first, err := after.sign(last)
	after.must(err)
	second, err := after.sign(last)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("killed at step %d: signed twice: %+v and %+v, %v", n, first, second, err)
	}
	file.OnStep(nil)
	b.restart(file) // the process that only lost its answer
	if third, err := b.sign(last); err != nil || !reflect.DeepEqual(first, third) {
		t.Errorf("after an error at step %d it signs %+v, want %+v, %v", n, third, first, err)
	}
	for _, keeper := range []memory.Keeper{again, file} {
		wantCountedOnce(t, keeper, last, len(list), n)
	}
	return true
}

func wantCountedOnce(t *testing.T, keeper memory.Keeper, r request, signatures, n int) {
	t.Helper()
	head, err := memory.Verify(t.Context(), keeper)
	if err != nil || head.Number != int64(1+signatures) {
		t.Errorf("killed at step %d: the log ends with %d, %v, want %v", n, head.Number, err, int64(1+signatures))
	}
	err = keeper.Do(t.Context(), func(tx memory.Tx) error {
		counts, err := tx.CountsSince(t.Context(), time.Time{})
		var fees bursar.Amount
		for _, c := range counts {
			if c.Class == memory.Fees {
				fees, _ = fees.Add(c.Units)
			}
		}
		if fees != r.contents.Fee {
			t.Errorf("killed at step %d: fees of %s count, want %s", n, fees, r.contents.Fee)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

package signer

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/roster"
)

// Killed at any statement, the signer has either counted nothing or signs the same transaction again, which then counts
// once.
func TestACrashCountsAFeeOnceAtMost(t *testing.T) {
	t.Parallel()
	steps := 0
	for n := 1; ; n++ {
		d := bounding(t, func(r *roster.Rule) { r.Fees, r.Payments = hourly(25e6), hourly(2) })
		r := d.ordered(1, 1).costs(20)
		left, step := "", 0
		d.file.OnStep(func(string) error {
			if step++; step != n {
				return nil
			}
			left = copyState(t, d.path)
			return errKilled
		})
		_, err := d.sign(r)
		if left == "" {
			break
		}
		if steps = n; !errors.Is(err, errKilled) {
			t.Fatalf("killed at step %d it returns %v, want %v", n, err, errKilled)
		}
		d.file.OnStep(nil)
		d.file = d.reopen(left)
		d.wantReason(r, "")
		d.wantReason(d.ordered(2, 1).costs(6), ReasonWindow, "20 of 25")
		d.wantReason(d.ordered(3, 1).costs(5), "")
		d.wantReason(d.ordered(4, 1).costs(0), ReasonWindow, "2 of 2 payments")
	}
	if steps < 8 {
		t.Errorf("it was killed at %d steps, want more", steps)
	}
}

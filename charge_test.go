package bursar_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
)

func TestAChargeIsPaidInTimeAndInFull(t *testing.T) {
	end := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	c := bursar.Charge{Minimum: bursar.Units(10), Expires: end}
	for _, test := range []struct {
		units uint64
		seen  time.Time
		paid  bool
	}{{10, end.Add(-1), true}, {9, end.Add(-1), false}, {10, end, false}, {11, end.Add(-time.Hour), true}} {
		if got := c.PaidWith(bursar.Units(test.units), test.seen); got != test.paid {
			t.Errorf("%d units seen %s before its end: paid %v, want %v", test.units, end.Sub(test.seen), got, test.paid)
		}
	}
	if c.Expired(end.Add(-1)) || !c.Expired(end) {
		t.Error("it does not expire at its end")
	}
	c.PaidBy = bursar.ID{1}
	if c.Expired(end) || c.PaidWith(bursar.Units(10), end.Add(-1)) {
		t.Error("a paid charge expires or is paid again")
	}
}

package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// TestReplacementsHaveAnEnd guards against a service that has one transaction replaced without end, each time for no
// more than was counted, in order to fill the disk of the state.
func TestReplacementsHaveAnEnd(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Hour: bursar.Units(1000)} }))
	path := b.stateFile(false)
	n := uint64(0)
	bump := func(reason Reason, says ...string) {
		t.Helper()
		n++
		b.wantReason(b.numbered(1, n, 5), reason, says...)
	}
	for range versionsInHour {
		bump("")
	}
	bump(ReasonVersions, "60 transactions of which only one can be included were signed within this hour")
	b.wantReason(b.numbered(1, 1, 5), "") // the same bytes again are no other transaction
	b.wantReason(b.numbered(2, 1, 5), "")
	b.reopen(path)
	bump(ReasonVersions)
	for range versionsInWeek/versionsInHour - 1 {
		b.clock.Advance(time.Hour + time.Second)
		for range versionsInHour {
			bump("")
		}
	}
	b.clock.Advance(2 * time.Hour)
	bump(ReasonVersions, "within this week")
	b.clock.Advance(longest)
	bump("")
}

// TestAForgottenTransactionCountsNoLess: what was signed long ago and is asked for again counts as a replacement of
// itself where it uses up something, and otherwise in full.
func TestAForgottenTransactionCountsNoLess(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Hour: bursar.Units(100)} }))
	b.stateFile(false)
	bare := b.numbered(1, 1, 60)
	bare.contents.Reservations = nil
	b.wantReason(bare, "")
	b.wantReason(b.numbered(2, 1, 40), "")
	b.wantReason(bare, "") // it counts already
	b.clock.Advance(keptFor + time.Hour)
	b.wantReason(b.numbered(3, 1, 30), "") // forgets the others
	b.wantReason(b.numbered(2, 1, 40), "") // takes nothing from the window
	b.wantReason(bare, "")
	b.wantReason(b.numbered(4, 1, 11), ReasonQuota, "which is 10 more")
}

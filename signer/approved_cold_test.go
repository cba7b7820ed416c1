package signer

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// After a cold start every window of the policy counts as used up until it has passed, and the refusal says why and
// since when: nobody takes it for payments that somebody made. What people approve under a rule without windows leaves.
func TestAColdStartUsesUpTheWindowsOfThePolicyAndSaysSo(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.list("alice", false)
	d.clock.Advance(time.Hour)
	d.must(d.file.Close())
	d.must(memory.BeginAgain(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now(), Cold: true}, "ann",
		"both machines are lost"))
	d.again()
	d.wantReason(d.ordered(1, 6), ReasonWindow, "what was signed before 2026-11-01 01:00 UTC is not known")
	d.wantReason(d.ordered(2, 6, ann, bob), "")
	d.clock.Advance(time.Hour)
	d.wantReason(d.ordered(1, 6), "")
	d.clock.Advance(roster.LongestWindow) // nothing from before the cold start counts any more
	d.wantReason(d.ordered(3, 10), "")
	d.wantReason(d.ordered(4, 10), "")
	_, err := d.sign(d.ordered(5, 10))
	if err == nil {
		t.Fatal("a payment beyond the window was signed a week after the cold start")
	}
	text := err.Error()
	if !strings.Contains(text, "22 of 25 have left") || strings.Contains(text, "is not known") {
		t.Errorf("beyond the window a week later: got %q, want 22 of 25, and nothing of the cold start", text)
	}
}

package chaintest

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

// Findings compares what an examination found with lines such as "finality failed: it has no finalized block": check,
// grade, and words of the detail. Whatever is not well must say what to do, and whatever is must not.
func Findings(t testing.TB, got []chain.Finding, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("%d findings, want %d:\n%+v", len(got), len(want), got)
			return
		}
		head, words, _ := strings.Cut(want[i], ": ")
		f := got[i]
		if f.Check+" "+string(f.Grade) != head || !strings.Contains(f.Detail, words) || f.Node == "" {
			t.Errorf("finding %d is %+v, want %s", i+1, f, want[i])
		}
		if (f.Advice == "") != (f.Grade == chain.Good) {
			t.Errorf("finding %d is %+v", i+1, f)
		}
	}
}

package chaintest

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

// Findings compares the findings of a health check with lines such as "finality failed: it has no finalized block":
// check, grade, and a part of the detail. A finding that is not good must give advice, and a good one must not.
func Findings(t testing.TB, got []chain.Finding, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("got %d findings, want %d:\n%+v", len(got), len(want), got)
			return
		}
		head, detail, _ := strings.Cut(want[i], ": ")
		f := got[i]
		if f.Check+" "+string(f.Grade) != head || !strings.Contains(f.Detail, detail) || f.Node == "" {
			t.Errorf("finding %d is %+v, want %s", i+1, f, want[i])
		}
		if (f.Advice == "") != (f.Grade == chain.Good) {
			t.Errorf("finding %d is %+v, want advice only if the grade is not good", i+1, f)
		}
	}
}

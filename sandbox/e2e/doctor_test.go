package e2e

import (
	"encoding/json"
	"strings"
)

// healthOf runs `bursar doctor` on all chains while the service runs: every check of every node answers, on real
// nodes and on simulators, and none fails. Only the age of blocks may be reported, because blocks come on request.
func (w *harness) healthOf() {
	w.t.Helper()
	var findings []struct{ Check, Result, Detail, Advice string }
	w.must(json.Unmarshal(w.run("doctor", "--json"), &findings))
	seen := map[string]int{}
	for _, f := range findings {
		words := strings.Fields(f.Check)
		seen[words[0]]++
		if f.Result == "failed" || f.Result == "warning" && strings.Contains(f.Detail, "could not be asked") {
			w.t.Errorf("doctor: %+v", f)
		}
	}
	var status []struct {
		Chain                         string
		Height, NodeHeight, NodeFinal *int64
		NodeError, Halted, HotBalance *string
	}
	w.must(json.Unmarshal(w.run("chain", "status", "--json"), &status))
	for _, s := range status {
		if s.Height == nil || s.NodeHeight == nil || s.NodeFinal == nil || *s.NodeHeight < *s.NodeFinal ||
			s.NodeError != nil || s.Halted != nil || s.HotBalance == nil {
			w.t.Errorf("chain status: %+v", s)
		}
	}
	if len(status) != len(w.networks()) {
		w.t.Errorf("chain status lists %d chains", len(status))
	}
	for _, n := range w.networks() {
		if seen[n.chain] < 5 {
			w.t.Errorf("doctor ran %d checks of %s's node, want at least 5", seen[n.chain], n.chain)
		}
	}
}

package tidy_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestHarnessesDoNotLinkTheService keeps test programs small: they are linked again at each run, and the service brings
// the API and every adapter (decision 71).
func TestHarnessesDoNotLinkTheService(t *testing.T) {
	atRoot(t)
	t.Parallel()
	const module = "github.com/bursar/bursar/"
	command := exec.Command("go", "list", "-deps", module+"bursartest", module+"follow/followtest")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v, want the imports of the harnesses", err)
	}
	for _, imported := range strings.Fields(string(out)) {
		switch strings.TrimPrefix(imported, module) {
		case "service", "api", "console", "chain/registry":
			t.Errorf("a harness imports %s, directly or through others, want none that brings the whole service", imported)
		}
	}
}

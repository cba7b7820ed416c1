package tidy_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheProgramsNeedNoCCompiler checks that only the standard library has parts in C, which it does without
// (CGO_ENABLED=0): the programs can be built on a machine with Go alone, and linked statically.
func TestTheProgramsNeedNoCCompiler(t *testing.T) {
	atRoot(t)
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"-f", `{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}`, "./cmd/...")
	list.Env = append(list.Environ(), "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Fields(string(out)); len(found) > 0 {
		t.Errorf("%s are written in C, want none", found)
	}
}

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bursar approve is the approver's own program: its words, its help, its answer and its exit code.
func TestApproveRunsTheApproversProgram(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short links no programs")
	}
	d := newHarness(t)
	folder := t.TempDir()
	program := filepath.Join(folder, approver)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../bursar-approve")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v: %s", approver, err, out)
	}
	d.env = append(d.env, "PATH="+folder)
	for _, words := range [][]string{{"version"}, {"yes", "--help"}, {"list", "none.json"}, {"list"}, {"nothing"}} {
		var own, said strings.Builder
		alone := exec.CommandContext(t.Context(), program, words...)
		alone.Stdout, alone.Stderr, alone.Env = &own, &said, d.environ()
		if err := alone.Run(); alone.ProcessState == nil {
			t.Fatalf("%s %s: %v", approver, words, err)
		}
		got := d.run("", append([]string{"approve"}, words...)...)
		if want := (outcome{own.String(), said.String(), alone.ProcessState.ExitCode()}); got != want {
			t.Errorf("bursar approve %s ends with %+v, want what %s does: %+v", words, got, approver, want)
		}
	}
}

// Where the program is not installed, the command says what to install. A folder that is not named in full is none: the
// program of the working directory may be anybody's.
func TestApproveSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for _, path := range []string{"", ".", t.TempDir() + "::."} {
		d.env = append(d.env, "PATH="+path)
		d.fails(exitFailed, "there is no program bursar-approve beside this one or in PATH: install the package", "approve",
			"list", "none.json")
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// closeMonthPage is the page that accountants follow.
const closeMonthPage = "../../docs/close-the-month.md"

// The page is followed from its beginning to its end: every command of bursar and every program of accounting that it
// names runs, on a month with values; the books are verified where they are empty. No node is there to compare with, so
// reconcile is left out.
func TestTheMonthIsClosedAsDocumented(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	shop := d.valued().String()
	ran, checked := 0, 0
	for _, line := range typedIn(t, closeMonthPage) {
		command, into, redirected := strings.Cut(line, " > ")
		words := strings.Fields(strings.Replace(command, "--account shop", "--account "+shop, 1))
		switch {
		case len(words) == 0 || strings.Contains(line, "reconcile"):
			continue
		case words[0] != "bursar":
			checked++
			if testing.Short() {
				continue // it needs programs of accounting
			}
			program := exec.CommandContext(t.Context(), words[0], words[1:]...)
			program.Dir = d.dir
			if said, err := program.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s, want success", line, err, said)
			}
			continue
		}
		for i, w := range words { // a folder of its own
			if w == "january" {
				words[i] = filepath.Join(d.dir, w)
			}
		}
		books := d
		if strings.Contains(line, "ledger verify") {
			books = newSeededHarness(t) // the month is only posted: its withdrawal is not settled as workers do it
		}
		out := books.ok(words[1:]...)
		ran++
		if redirected {
			if err := os.WriteFile(filepath.Join(d.dir, into), []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(line, "ledger verify") && !strings.Contains(out, "the books are consistent") {
			t.Errorf("%s prints %q, want that the books are consistent", line, out)
		}
	}
	if ran != 9 || checked != 3 {
		t.Errorf("%d commands and %d programs of the page ran, want 9 and 3", ran, checked)
	}
	if files, err := os.ReadDir(filepath.Join(d.dir, "january")); err != nil || len(files) < 2 {
		t.Errorf("the folder of the month has %d files, %v, want two for each account", len(files), err)
	}
}

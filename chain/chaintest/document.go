package chaintest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the conformance suite into docs/rules.md")

// The heads of the two tables in docs/rules.md: what each conformance test needs, and what each run of the suite skips.
const (
	needsHead = "| conformance test | needs |"
	runsHead  = "| chain | run | tests | skipped, and why |"
)

// Document compares the row of docs/rules.md about one run of the suite with what the run does: how many conformance
// tests apply, which are skipped and why. The chain is named as people know it, and the run by its test, as
// "chain/bitcoin.TestConformance". The harness is the one that Run gets, so no node is needed. With -update the row is
// written.
func Document(t *testing.T, chain, run string, offline Harness) {
	t.Helper()
	key := fmt.Sprintf("| %s | `%s` |", chain, run)
	documented(t, runsHead, key, key+" "+runCells(factsOf(offline))+" |")
}

// runCells returns how many tests apply and, reason by reason, which do not.
func runCells(f facts) string {
	var reasons []string
	skipped, runs := map[string][]string{}, 0
	for _, test := range suite {
		why := test.reason(f)
		if why == "" {
			runs++
			continue
		}
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		skipped[why] = append(skipped[why], "*"+test.name+"*")
	}
	for i, why := range reasons {
		reasons[i] = why + " (" + strings.Join(skipped[why], ", ") + ")"
	}
	if len(reasons) == 0 {
		reasons = []string{"nothing"}
	}
	return fmt.Sprintf("%d of %d | %s", runs, len(suite), strings.Join(reasons, "; "))
}

// needCells returns what a conformance test needs.
func (c conformanceTest) needCells() string {
	if len(c.needs) == 0 {
		return "nothing: it runs on every chain"
	}
	var needs []string
	for _, n := range c.needs {
		needs = append(needs, n.what)
	}
	return strings.Join(needs, "; ")
}

// documented compares the row of a table that begins with key, and with -update replaces or adds it.
func documented(t *testing.T, head, key, row string) {
	t.Helper()
	path := rulesPath(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	start := slices.Index(lines, head)
	if start < 0 {
		t.Fatalf("%s has no table with the head %q", path, head)
	}
	end := start
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	at := slices.IndexFunc(lines[start:end], func(line string) bool { return strings.HasPrefix(line, key) })
	if at >= 0 && lines[start+at] == row {
		return
	}
	if !*update {
		t.Errorf("docs/rules.md does not have the row\n%s\nrun this test with -update", row)
		return
	}
	if at >= 0 {
		lines[start+at] = row
	} else {
		lines = slices.Insert(lines, end, row)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rulesPath returns the path of docs/rules.md, which lies in a directory above the test's package.
func rulesPath(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "docs", "rules.md")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatal("no directory above this package has docs/rules.md")
	return ""
}

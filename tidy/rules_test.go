package tidy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/registry"
)

var (
	namedTest  = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Each)[A-Za-z0-9]*)(?:/([^`]+))?`")
	namedSuite = regexp.MustCompile("`suite/([^`]+)`")
	// conformanceRun is a row of the table of runs: the chain, and at the end the skipped tests between asterisks.
	conformanceRun = regexp.MustCompile("^\\| ([^|]+) \\| `[a-z/]+\\.Test[^`]*` \\| \\d+ of \\d+ \\| (.+) \\|$")
	skippedTest    = regexp.MustCompile(`\*([^*]+)\*`)
)

// TestTheRulesNameTestsThatExist compares docs/rules.md with the tests: a rule whose proof was renamed or removed is
// noticed.
func TestTheRulesNameTestsThatExist(t *testing.T) {
	atRoot(t)
	text, code := readRules(t), map[string]string{}
	read := func(pkg string) string {
		if code[pkg] == "" {
			code[pkg] = goFiles(t, pkg)
		}
		return code[pkg]
	}
	found := namedTest.FindAllStringSubmatch(text, -1)
	for _, m := range found {
		if source := read(m[1]); !strings.Contains(source, "func "+m[2]+"(") || !strings.Contains(source, `"`+m[3]) {
			t.Errorf("docs/rules.md names %s, which is not there", m[0])
		}
	}
	suite := namedSuite.FindAllStringSubmatch(text, -1)
	for _, m := range suite {
		if !strings.Contains(read("chain/chaintest"), `"`+m[1]+`"`) {
			t.Errorf("docs/rules.md names %s, which is not there", m[0])
		}
	}
	if len(found) < 100 || len(suite) < 10 {
		t.Errorf("docs/rules.md names %d tests and %d conformance tests: did its form change?, "+
			"want at least 100 and at least 10", len(found), len(suite))
	}
	for _, rule := range rulesOf(text) {
		if !strings.Contains(rule.proof, "`") {
			t.Errorf("docs/rules.md names no proof of: %s", rule.text)
		}
	}
}

// TestNoRuleIsProvenByASkippedTest compares the conformance tests that docs/rules.md names with its table of runs: each
// runs for every chain of the rule.
func TestNoRuleIsProvenByASkippedTest(t *testing.T) {
	atRoot(t)
	text := readRules(t)
	runs := conformanceRuns(text)
	if all := registry.All(); len(runs) != len(all) {
		t.Fatalf("docs/rules.md has runs of %d chains, want all %d: did its form change?", len(runs), len(all))
	}
	checked := 0
	for _, rule := range rulesOf(text) {
		for _, m := range namedSuite.FindAllStringSubmatch(rule.proof, -1) {
			if len(rule.chains) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(runs)), func(chain string) bool {
				return runsOn(runs[chain], m[1])
			}) {
				t.Errorf("%s proves %q, and is skipped on every chain", m[0], rule.text)
			}
			for _, chain := range rule.chains {
				checked++
				if !runsOn(runs[chain], m[1]) {
					t.Errorf("%s proves %q for %s, and is skipped there", m[0], rule.text, chain)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d conformance tests are named for a chain, want 10 or more: did the form of docs/rules.md change?",
			checked)
	}
}

// rule is a row of a table of docs/rules.md.
type rule struct {
	text, proof string
	chains      []string // those that it is about; nil: all
}

// rulesOf returns the rules above the tables of the conformance tests. A rule is about the chains of its section, or
// about those that it begins with, such as in "Bitcoin: …".
func rulesOf(text string) (rules []rule) {
	text, _, _ = strings.Cut(text, "## The conformance tests")
	var chains []string
	for line := range strings.SplitSeq(text, "\n") {
		if heading, is := strings.CutPrefix(line, "## "); is {
			chains = chainsIn(heading)
			continue
		}
		left, proof, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !row || left == "" || left == "rule" {
			continue
		}
		r := rule{left, proof, chains}
		if head, _, has := strings.Cut(left, ": "); has {
			if named := chainsIn(head); named != nil {
				r.chains = named
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// chainsIn returns the chains that a list such as "Bitcoin, Litecoin" names, and nil for any other text.
func chainsIn(list string) []string {
	var all []string
	for _, d := range registry.All() {
		all = append(all, d.Name)
	}
	chains := strings.Split(list, ", ")
	if slices.ContainsFunc(chains, func(chain string) bool { return !slices.Contains(all, chain) }) {
		return nil
	}
	return chains
}

// conformanceRuns returns the conformance tests that each run of a chain skips.
func conformanceRuns(text string) map[string][][]string {
	runs := map[string][][]string{}
	for line := range strings.SplitSeq(text, "\n") {
		m := conformanceRun.FindStringSubmatch(line)
		if m == nil || chainsIn(m[1]) == nil {
			continue
		}
		skipped := []string{}
		for _, s := range skippedTest.FindAllStringSubmatch(m[2], -1) {
			skipped = append(skipped, s[1])
		}
		runs[m[1]] = append(runs[m[1]], skipped)
	}
	return runs
}

// runsOn reports whether a conformance test runs in any run of a chain.
func runsOn(runs [][]string, test string) bool {
	return slices.ContainsFunc(runs, func(skipped []string) bool { return !slices.Contains(skipped, test) })
}

func readRules(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// goFiles returns the text of all Go files of a package.
func goFiles(t *testing.T, pkg string) (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(content)
	}
	return text
}

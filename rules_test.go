package bursar_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest  = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Each)[A-Za-z0-9]*)(?:/([^`]+))?`")
	namedSuite = regexp.MustCompile("`suite/([^`]+)`")
)

// TestTheRulesNameTestsThatExist checks that the tests that docs/rules.md names exist, so that a renamed or removed
// proof is noticed.
func TestTheRulesNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]string{}
	read := func(dir string) string {
		if code[dir] == "" {
			files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				code[dir] += string(content)
			}
		}
		return code[dir]
	}
	found := namedTest.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		if code := read(m[1]); !strings.Contains(code, "func "+m[2]+"(") || !strings.Contains(code, `"`+m[3]) {
			t.Errorf("%s is not there", m[0])
		}
	}
	suite := namedSuite.FindAllStringSubmatch(string(text), -1)
	for _, m := range suite {
		if !strings.Contains(read("chain/chaintest"), `"`+m[1]+`"`) {
			t.Errorf("%s is not there", m[0])
		}
	}
	if len(found) < 100 || len(suite) < 10 {
		t.Errorf("only %d tests and %d cases are named: is the file's form another one?", len(found), len(suite))
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		rule, proof, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if row && rule != "" && rule != "rule" && !strings.Contains(proof, "`") {
			t.Errorf("nothing proves: %s", rule)
		}
	}
}

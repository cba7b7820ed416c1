package tidy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stop is one function of a walk, in a file of its package.
type stop struct{ file, function string }

var (
	step     = regexp.MustCompile(`(?m)^\d+\. `)
	walkSpan = regexp.MustCompile("`([A-Za-z/_]+\\.go|(?:[A-Z][A-Za-z]*\\.)?[A-Za-z]+)`")
)

// walk reads the functions that a part of ARCHITECTURE.md names in its steps, in order: a file in code marks, followed
// by functions of that file, or methods as Type.Method.
func walk(t *testing.T, heading string) (stops []stop) {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("ARCHITECTURE.md has no part %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	for _, s := range step.Split(part, -1)[1:] {
		s, _, _ = strings.Cut(s, "\n\n")
		file := ""
		s = functionInFile.ReplaceAllString(s, "`$2` `$1`")
		for _, m := range walkSpan.FindAllStringSubmatch(s, -1) {
			if strings.HasSuffix(m[1], ".go") {
				file = m[1]
			} else {
				stops = append(stops, stop{file, m[1]})
			}
		}
	}
	return stops
}

// starts are functions with which a worker starts, a batch that gathers the requests of others, and what an adapter
// calls.
var starts = map[stop]bool{
	{"follow/follow.go", "Step"}:         true,
	{"outgoing/sender.go", "Step"}:       true,
	{"withdrawal/request.go", "holdAll"}: true,
	{"follow/follow.go", "Watch.Sync"}:   true,
}

// The walks of ARCHITECTURE.md match the code: every name in them is that of one function, by itself or as a method of
// a type, and a function that was named before calls it, directly or through others of its package.
func TestTheWalksAreAsTheCodeIs(t *testing.T) {
	atRoot(t)
	headings := []string{"Where a deposit becomes a credit", "What a reorganisation takes back",
		"From a withdrawal request to its broadcast"}
	var packages []string
	for _, heading := range headings {
		for _, s := range walk(t, heading) {
			packages = append(packages, path.Dir(s.file))
		}
	}
	c := newCalls(t, packages...)
	for _, heading := range headings {
		stops := walk(t, heading)
		if len(stops) < 5 {
			t.Errorf("%s: only %d functions are named", heading, len(stops))
		}
		reached := map[types.Object]bool{}
		for i, s := range stops {
			found := c.find(s)
			if len(found) != 1 {
				t.Errorf("%s: %d functions are %s of %s, want 1: name the type of a method", heading, len(found), s.function,
					s.file)
				continue
			}
			if i > 0 && !reached[found[0]] && !starts[s] {
				t.Errorf("%s: nothing named before calls %s of %s", heading, s.function, s.file)
			}
			maps.Copy(reached, c.reached(found[0]))
		}
	}
}

var condition = regexp.MustCompile("(?m)^\\d+\\. `([A-Za-z]+)`: ")

// ARCHITECTURE.md lists the conditions of the gate, by name and in order.
func TestTheConditionsOfTheGateAreListed(t *testing.T) {
	atRoot(t)
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## What stops a payment\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var listed, checked []string
	for _, m := range condition.FindAllStringSubmatch(part, -1) {
		listed = append(listed, m[1])
	}
	gate, err := parser.ParseFile(token.NewFileSet(), "outgoing/gate.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(gate, func(n ast.Node) bool {
		if f, is := n.(*ast.FuncDecl); is && f.Name.Name != "gate" {
			return false
		}
		conditions, is := n.(*ast.CompositeLit)
		if !is {
			return true
		}
		for _, e := range conditions.Elts {
			if s, is := e.(*ast.SelectorExpr); is {
				checked = append(checked, s.Sel.Name)
			}
		}
		return false
	})
	if len(checked) == 0 || !slices.Equal(listed, checked) {
		t.Errorf("ARCHITECTURE.md lists %v, and the gate checks %v", listed, checked)
	}
}

var (
	functionInFile = regexp.MustCompile("`([A-Za-z]+)`\\s+in\\s+`([A-Za-z_/]+\\.go)`")
	fileOfFunction = regexp.MustCompile("`([A-Za-z_/]+\\.go)`\\s+`([A-Za-z]+)`")
	testName       = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	anyFunction    = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?([A-Za-z0-9_]+)`)
)

// Every function that a document names together with its file is in that file, and every test that it names exists.
// Decisions and the changelog say what was so on their day.
func TestNamedFunctionsExist(t *testing.T) {
	atRoot(t)
	there, tests, seen := map[stop]bool{}, map[string]bool{}, 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range anyFunction.FindAllStringSubmatch(string(text), -1) {
			there[stop{filepath.ToSlash(name), m[1]}] = true
			tests[m[1]] = tests[m[1]] || strings.HasSuffix(name, "_test.go")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range documents(t) {
		if strings.HasPrefix(name, "docs/decisions/") || name == "CHANGELOG.md" {
			continue
		}
		var named []stop
		for _, m := range functionInFile.FindAllStringSubmatch(text, -1) {
			named = append(named, stop{m[2], m[1]})
		}
		for _, m := range fileOfFunction.FindAllStringSubmatch(text, -1) {
			named = append(named, stop{m[1], m[2]})
		}
		for _, s := range named {
			if seen++; !there[s] {
				t.Errorf("%s names %s in %s, which is not there", name, s.function, s.file)
			}
		}
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			if seen++; !tests[m[1]] {
				t.Errorf("%s names the test %s, which does not exist", name, m[1])
			}
		}
	}
	if seen < 60 {
		t.Errorf("%d functions are named, want more", seen)
	}
}

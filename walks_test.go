package bursar_test

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// stop is one function of a walk.
type stop struct{ file, function string }

var (
	step     = regexp.MustCompile(`(?m)^\d+\. `)
	walkSpan = regexp.MustCompile("`([A-Za-z/_]+\\.go|[A-Za-z]+)`")
)

// walk reads the functions that a part of ARCHITECTURE.md names in its steps, in order: a file in code marks, followed
// by functions of that file.
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

// declared has the functions of the module by their file's folder and name.
type declared map[string][]*ast.FuncDecl

// The walks of ARCHITECTURE.md match the code: every function that they name is in the file that they name, and is
// called by one that they named before, directly or through others of its package.
func TestTheWalksAreAsTheCodeIs(t *testing.T) {
	all, inFile := declared{}, map[stop]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
				all[s.pkg+" "+f.Name.Name] = append(all[s.pkg+" "+f.Name.Name], f)
				inFile[stop{s.path, f.Name.Name}] = true
			}
		}
	}
	for _, heading := range []string{"Where a deposit becomes a credit", "What a reorganisation takes back",
		"From a withdrawal request to its broadcast"} {
		stops := walk(t, heading)
		if len(stops) < 5 {
			t.Errorf("%s: only %d functions are named", heading, len(stops))
		}
		reached := map[string]bool{}
		for i, s := range stops {
			pkg := path.Dir(s.file)
			if !inFile[s] && len(all[pkg+" "+s.function]) == 0 {
				t.Errorf("%s: there is no function %s in %s", heading, s.function, pkg)
			}
			if i > 0 && !reached[s.function] && !starts[s.function] {
				t.Errorf("%s: nothing named before calls %s", heading, s.function)
			}
			all.calls(pkg, s.function, reached, map[string]bool{})
		}
	}
}

// starts are functions with which a worker starts, or a batch that gathers the requests of others.
var starts = map[string]bool{"Step": true, "holdAll": true}

// calls collects the names of what the functions of a name in a package call, directly or through functions of the
// same package.
func (d declared) calls(pkg, name string, reached, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	for _, f := range d[pkg+" "+name] {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if x, is := n.(*ast.CallExpr); is {
				switch called := x.Fun.(type) {
				case *ast.SelectorExpr:
					reached[called.Sel.Name] = true
					d.calls(pkg, called.Sel.Name, reached, seen)
				case *ast.Ident:
					reached[called.Name] = true
					d.calls(pkg, called.Name, reached, seen)
				}
			}
			return true
		})
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

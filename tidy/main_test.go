package tidy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var toRoot = sync.OnceValue(func() error { return os.Chdir("..") })

// atRoot makes the folder of the repository the current one, for all tests of the package, so that they name files as a
// reader does. In TestMain that would be too early: the go command would not see which files were read, and a result
// that it keeps would outlive a change of them.
func atRoot(t *testing.T) {
	t.Helper()
	if err := toRoot(); err != nil {
		t.Fatal(err)
	}
}

func TestEveryTestRunsAtTheRoot(t *testing.T) {
	atRoot(t)
	files, err := filepath.Glob("tidy/*_test.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d files: %v, want at least 10", len(files), err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if is && strings.HasPrefix(f.Name.Name, "Test") && !beginsAtRoot(f) {
				t.Errorf("%s: %s does not begin with atRoot(t)", name, f.Name.Name)
			}
		}
	}
}

func beginsAtRoot(f *ast.FuncDecl) bool {
	if len(f.Body.List) == 0 {
		return false
	}
	s, is := f.Body.List[0].(*ast.ExprStmt)
	if !is {
		return false
	}
	call, is := s.X.(*ast.CallExpr)
	if !is {
		return false
	}
	name, is := call.Fun.(*ast.Ident)
	return is && name.Name == "atRoot"
}

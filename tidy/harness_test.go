package tidy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// source is one Go file of the two modules.
type source struct {
	path  string
	pkg   string
	file  *ast.File
	files *token.FileSet
}

// sources returns the files that are not tests.
func sources(t *testing.T) []source {
	t.Helper()
	return filesOf(t, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
}

// testSources are the files of tests in the packages of sources.
func testSources(t *testing.T) []source {
	t.Helper()
	return filesOf(t, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

func filesOf(t *testing.T, wanted func(name string) bool) (list []source) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		skipped := name == "testdata" || name == "node_modules"
		if d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || skipped) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || !wanted(name) {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		list = append(list, source{path: path, pkg: filepath.ToSlash(filepath.Dir(path)), file: file, files: files})
		return err
	})
	if err != nil || len(list) < 50 {
		t.Fatalf("read %d files: %v, want at least 50", len(list), err)
	}
	return list
}

// inSandbox reports whether a package is of the module sandbox, which may import everything and which no other imports.
func inSandbox(pkg string) bool { return pkg == "sandbox" || strings.HasPrefix(pkg, "sandbox/") }

// forTests reports whether a package serves tests alone.
func forTests(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || strings.HasPrefix(pkg, "bursartest/")
}

package tidy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/registry"
)

// mayNameChains says which files and folders beside tests name chains or families, and why.
var mayNameChains = map[string]string{
	"currencies.go":       "the IDs and currencies that the interface promises",
	"chain/definition.go": "the families and their key paths: the signer reads them and links no adapter",
	"chain/bitcoin":       "an adapter",
	"chain/evm":           "an adapter",
	"chain/solana":        "an adapter",
	"chain/tron":          "an adapter",
	"chain/xrpl":          "an adapter",
	"bench":               "support of tests: one chain is enough",
	"console/consoletest": "support of tests: what the pages of the console show",
	"bursartest":          "support of tests: which model of chain a test runs on",
	"follow/followtest":   "support of tests: one chain is enough",
	"store/storetest":     "support of tests: rows of some chain",
	"sandbox/chains":      "the sandbox's nodes, one line for each chain",
	"sandbox/nodes":       "the nodes themselves, which say their name in errors and the log",
}

// namedChain is a place where a file names a chain or a family.
type namedChain struct {
	path, name string
	line       int
}

// A chain is one value: its adapter defines it, the registry and the sandbox list it in one line each, and everything
// else reads them. No other file chooses by the name of a chain or family, or lists some.
func TestNoListOfChainsIsWrittenTwice(t *testing.T) {
	atRoot(t)
	t.Parallel()
	used := map[string]bool{}
	for _, place := range placesOfChains(t) {
		allowed := ""
		for path := range mayNameChains {
			if place.path == path || strings.HasPrefix(place.path, path+"/") {
				allowed = path
			}
		}
		if used[allowed] = true; allowed == "" {
			t.Errorf("%s:%d names %s: read it from the registry, or put what depends on it into chain.Definition, "+
				"want not %q",
				place.path, place.line, place.name, "")
		}
	}
	for path, why := range mayNameChains {
		if !used[path] {
			t.Errorf("%s names no chain any more: take it off the list (%s)", path, why)
		}
	}
}

// placesOfChains returns where the files of both modules, tests left out, name a chain or a family: by a constant or
// by its text.
func placesOfChains(t *testing.T) (places []namedChain) {
	t.Helper()
	texts := registry.Families()
	constants := constantsOfChains(t)
	var ids []string
	for _, family := range texts {
		ids = append(ids, string(family))
	}
	for _, id := range registry.IDs() {
		ids = append(ids, string(id))
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.Field:
				return false // a struct's tag, the name of a parameter
			case *ast.SelectorExpr:
				if pkg, is := n.X.(*ast.Ident); is && slices.Contains(constants, pkg.Name+"."+n.Sel.Name) {
					name = pkg.Name + "." + n.Sel.Name
				}
			case *ast.Ident:
				if slices.Contains(constants, file.Name.Name+"."+n.Name) {
					name = n.Name
				}
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if n.Kind == token.STRING && err == nil && slices.Contains(ids, text) {
					name = n.Value
				}
			}
			if name != "" {
				places = append(places, namedChain{filepath.ToSlash(path), name, files.Position(n.Pos()).Line})
			}
			return true
		})
		return nil
	})
	if err != nil || len(places) < 20 {
		t.Fatalf("found %d places: %v, want at least 20", len(places), err)
	}
	return places
}

// constantsOfChains returns the constants of chains and families, as they are written outside of their packages.
func constantsOfChains(t *testing.T) (names []string) {
	t.Helper()
	for path, of := range map[string]string{"currencies.go": "ChainID", "chain/definition.go": "Family"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			name := ""
			switch typed := spec.Type.(type) {
			case *ast.Ident:
				name = typed.Name
			case *ast.SelectorExpr:
				name = typed.Sel.Name
			}
			if name == of {
				names = append(names, file.Name.Name+"."+spec.Names[0].Name)
			}
			return true
		})
	}
	if want := len(registry.IDs()) + len(registry.Families()); len(names) != want {
		t.Fatalf("found %d constants of chains and families, want %d: %q", len(names), want, names)
	}
	return names
}

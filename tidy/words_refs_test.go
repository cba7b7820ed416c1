package tidy_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// reference is a package and an exported name of it, as comments write them.
var reference = regexp.MustCompile(`(?:^|[^\w.])([a-z][a-z0-9]*)\.([A-Z]\w*)`)

// What a comment names of another package exists there, so that a rename takes its comments along.
func TestCommentsNameWhatExists(t *testing.T) {
	atRoot(t)
	files := sources(t)
	declared := map[string]map[string]bool{} // by the packages' names; those of two packages of one name together
	for _, s := range files {
		name := s.file.Name.Name
		if declared[name] == nil {
			declared[name] = map[string]bool{}
		}
		for _, d := range s.file.Decls {
			for _, id := range namesOf(d) {
				declared[name][id.Name] = true
			}
		}
	}
	delete(declared, "main")
	for _, s := range files {
		imported := map[string]bool{} // the names of packages from elsewhere
		for _, spec := range s.file.Imports {
			if text := spec.Path.Value[1 : len(spec.Path.Value)-1]; !isOurs(text) {
				imported[path.Base(text)] = true
			}
		}
		for _, group := range s.file.Comments {
			for _, found := range reference.FindAllStringSubmatch(group.Text(), -1) {
				names := declared[found[1]]
				if strings.HasPrefix(found[2], "Test") {
					continue // tests are not among the sources
				}
				if names != nil && !imported[found[1]] && !names[found[2]] {
					t.Errorf("%s: the comment names %s.%s, which does not exist", s.files.Position(group.Pos()),
						found[1], found[2])
				}
			}
		}
	}
}

func isOurs(path string) bool { return strings.HasPrefix(path, module) }

// namesOf returns the names that a declaration has in its package, those of methods included.
func namesOf(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}

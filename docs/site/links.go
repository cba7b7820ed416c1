package site

import (
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// relink turns the links of a document, which lead to files, into links to pages. A link to a file that is not part of
// the documentation, such as source code, becomes its text.
func (s *Site) relink(d *document) error {
	var outside []*ast.Link
	err := ast.Walk(d.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch v := n.(type) {
		case *ast.Link:
			to, inside := s.target(d, string(v.Destination))
			if !inside {
				outside = append(outside, v)
			}
			v.Destination = []byte(to)
		case *ast.Image:
			to, _ := s.target(d, string(v.Destination))
			v.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	for _, l := range outside {
		unwrap(l)
	}
	return err
}

// target returns where a link of a document leads to, and whether it can be followed from its page.
func (s *Site) target(d *document, link string) (to string, inside bool) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") {
		return link, true
	}
	file, fragment, _ := strings.Cut(link, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	name := path.Join(path.Dir(d.Name), file)
	if page, isDocument := strings.CutSuffix(name, ".md"); isDocument && s.byName[page] != nil {
		return Root + page + fragment, true
	}
	if _, found := s.files[Root+name]; found {
		return Root + name, true
	}
	switch name { // what the API's own page is made from, and folders
	case "openapi.yaml":
		return strings.TrimSuffix(Root, "/"), true
	case ".", decisions, "operations":
		return ContentsPath, true
	}
	return "", false
}

// unwrap puts a link's text in its place.
func unwrap(l *ast.Link) {
	parent := l.Parent()
	for l.FirstChild() != nil {
		child := l.FirstChild()
		l.RemoveChild(l, child)
		parent.InsertBefore(parent, l, child)
	}
	parent.RemoveChild(parent, l)
}

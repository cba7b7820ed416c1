package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// site is one place that can be changed: while its mutant is active, the code there does something else.
type site struct {
	id   int
	file string // relative to the repository
	line int
	fn   string // the function around it
	kind string
	text string // the code as it is
	nth  int    // how many sites before it have the same function, kind and text
	edit []edit // offsets of this site's insertions in the file
}

// name is the same as long as the function and the code of the site are: the list of survivors refers to it.
func (s site) name() string {
	sum := sha256.Sum256([]byte(s.kind + "\x00" + s.text))
	name := fmt.Sprintf("%s:%s:%s:%x", s.file, s.fn, strings.ReplaceAll(s.kind, " ", "-"), sum[:4]) // a name has no space
	if s.nth > 0 {
		name += fmt.Sprintf("#%d", s.nth+1)
	}
	return name
}

// number makes the names unique if the same code occurs more than once in a function.
func number(sites []site) {
	seen := map[string]int{}
	for i := range sites {
		name := sites[i].name()
		sites[i].nth = seen[name]
		seen[name]++
	}
}

// pkg is the package's directory.
func (s site) pkg() string { return path.Dir(s.file) }

// edit inserts text before the byte at an offset. Of two at one offset, the outer opens first and closes last.
type edit struct {
	at    int
	text  string
	depth int
	close bool
}

// finder walks one file and collects its sites.
type finder struct {
	files *token.FileSet
	src   []byte
	path  string
	fn    string
	depth int
	logs  logging
	fails map[ast.Stmt]bool // returns of an error: the other results do not count
	sites []site
}

// find returns the sites of a package's files, tests and generated files left out.
func find(root, dir string) ([]site, error) {
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	files, finders := []*ast.File(nil), []*finder(nil)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f := &finder{
			files: token.NewFileSet(),
			src:   src,
			fails: map[ast.Stmt]bool{},
			path:  filepath.ToSlash(filepath.Join(dir, filepath.Base(name))),
		}
		parsed, err := parser.ParseFile(f.files, name, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files, finders = append(files, parsed), append(finders, f)
	}
	var all []site
	logs := loggingOf(files)
	for i, f := range finders {
		f.logs = logs
		for _, decl := range files[i].Decls {
			if fn, is := decl.(*ast.FuncDecl); is && fn.Body != nil && !logs.functions[fn.Name.Name] {
				f.fn = fn.Name.Name
				f.block(fn.Body, onlyError(fn.Type))
			}
		}
		all = append(all, f.sites...)
	}
	number(all)
	return all, nil
}

// onlyError reports whether a function returns one error and nothing else.
func onlyError(t *ast.FuncType) bool {
	if t.Results == nil || len(t.Results.List) != 1 || len(t.Results.List[0].Names) > 1 {
		return false
	}
	name, is := t.Results.List[0].Type.(*ast.Ident)
	return is && name.Name == "error"
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) text(n ast.Node) string { return string(f.src[f.offset(n.Pos()):f.offset(n.End())]) }

// add records a site around a node. In before and after, "#" stands for the mutant's number.
func (f *finder) add(kind string, n ast.Node, before, after string) {
	s := site{file: f.path, line: f.files.Position(n.Pos()).Line, fn: f.fn, kind: kind, text: f.text(n)}
	s.edit = append(s.edit, edit{at: f.offset(n.Pos()), text: before, depth: f.depth})
	s.edit = append(s.edit, edit{at: f.offset(n.End()), text: after, depth: f.depth, close: true})
	f.depth += 4 // reserves edits for this site between it and the sites inside it
	f.sites = append(f.sites, s)
}

// block visits statements; errorOnly says what the function around them returns.
func (f *finder) block(b *ast.BlockStmt, errorOnly bool) {
	for _, s := range b.List {
		f.statement(s, errorOnly)
	}
}

func (f *finder) statement(s ast.Stmt, errorOnly bool) {
	if f.logs.statement(s) {
		return
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, is := s.X.(*ast.CallExpr); !is || !calls(call, "panic") {
			f.add("skip", s, "if !mutantOn(#) { ", " }")
		}
	case *ast.IncDecStmt:
		f.add("skip", s, "if !mutantOn(#) { ", " }")
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE && !blank(s) {
			f.add("skip", s, "if !mutantOn(#) { ", " }")
		}
	case *ast.IfStmt:
		if s.Init != nil && s.Else == nil {
			f.add("skip", s, "if !mutantOn(#) { ", " }")
		}
		if s.Init != nil && s.Else == nil && !hasCall(s.Cond) && f.logs.block(s.Body) {
			f.inside(s.Init, errorOnly)
			return // whatever the condition is, it only logs
		}
		if f.text(s.Cond) == "err != nil" {
			for _, last := range s.Body.List {
				f.fails[last] = true
			}
		}
		if !f.checksError(s.Cond) {
			f.add("true", s.Cond, "(mutantOn(#) || (", "))")
			f.add("false", s.Cond, "(!mutantOn(#) && (", "))")
		}
	case *ast.ForStmt:
		if s.Cond != nil {
			f.add("false", s.Cond, "(!mutantOn(#) && (", "))")
		}
	case *ast.ReturnStmt:
		if errorOnly && len(s.Results) == 1 && f.text(s.Results[0]) != "nil" && !passesOn(f.text(s.Results[0])) {
			f.add("return nil", s, "if mutantOn(#) { return nil }; ", "")
		}
		if n := len(s.Results); n > 1 && (f.fails[s] || strings.HasPrefix(f.text(s.Results[n-1]), "fmt.Errorf(")) {
			return
		}
	}
	f.inside(s, errorOnly)
}

// checksError reports whether a condition only checks for an error. Inverting it is a mutant; ignoring the error is
// none, because the store commits no transaction in which a statement has failed.
func (f *finder) checksError(cond ast.Expr) bool {
	text := f.text(cond)
	return text == "err != nil" || text == "err == nil"
}

// passesOn reports whether the returned error is an earlier error, unchanged or wrapped.
func passesOn(result string) bool {
	return result == "err" || strings.HasPrefix(result, "fmt.Errorf(") && strings.HasSuffix(result, ", err)")
}

// inside visits the parts of a statement.
func (f *finder) inside(s ast.Stmt, errorOnly bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			f.block(n, errorOnly)
			return false
		case *ast.CaseClause:
			for _, e := range n.List {
				f.expressions(e)
			}
			for _, child := range n.Body {
				f.statement(child, errorOnly)
			}
			return false
		case *ast.CommClause:
			for _, child := range n.Body {
				f.statement(child, errorOnly)
			}
			return false
		case ast.Stmt:
			if n != s {
				switch n.(type) {
				case *ast.IfStmt: // else if
					f.statement(n, errorOnly)
					return false
				}
			}
		case ast.Expr:
			f.expressions(n)
			return false
		case *ast.GenDecl:
			return n.Tok != token.CONST
		}
		return true
	})
}

func calls(c *ast.CallExpr, name string) bool {
	id, is := c.Fun.(*ast.Ident)
	return is && id.Name == name
}

func blank(s *ast.AssignStmt) bool {
	for _, e := range s.Lhs {
		if id, is := e.(*ast.Ident); !is || id.Name != "_" {
			return false
		}
	}
	return true
}

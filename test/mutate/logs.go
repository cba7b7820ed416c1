package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// logging knows what of a package only writes lines of its log. A line that is missing or different costs no money, so what
// only logs is no site: no test has to notice it.
type logging struct {
	functions map[string]bool // functions and methods of which nothing is left without their log lines
}

// loggingOf reads the functions of a package. A function that calls nothing but others that log only is one as well.
func loggingOf(files []*ast.File) logging {
	l, byName := logging{functions: map[string]bool{}}, map[string][]*ast.FuncDecl{}
	for _, file := range files {
		for _, decl := range file.Decls {
			if fn, is := decl.(*ast.FuncDecl); is {
				byName[fn.Name.Name] = append(byName[fn.Name.Name], fn)
			}
		}
	}
	for found := true; found; {
		found = false
		for name, functions := range byName {
			if !l.functions[name] && !slices.ContainsFunc(functions, func(fn *ast.FuncDecl) bool { return !l.function(fn) }) {
				l.functions[name], found = true, true
			}
		}
	}
	return l
}

func (l logging) function(fn *ast.FuncDecl) bool {
	return fn.Body != nil && fn.Type.Results == nil && len(fn.Body.List) > 0 && l.block(fn.Body)
}

func (l logging) block(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		if !l.statement(s) {
			return false
		}
	}
	return true
}

// statement reports whether a statement has no effect but lines of the log.
func (l logging) statement(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, is := s.X.(*ast.CallExpr)
		return is && l.call(call)
	case *ast.IfStmt:
		return s.Init == nil && s.Else == nil && !hasCall(s.Cond) && l.block(s.Body)
	case *ast.RangeStmt:
		return s.Tok != token.ASSIGN && !hasCall(s.X) && l.block(s.Body)
	}
	return false
}

// call reports whether a call only logs: a method of something named Log, a function that does no more, or a callback for after
// the commit that does no more.
func (l logging) call(c *ast.CallExpr) bool {
	if id, is := c.Fun.(*ast.Ident); is {
		return l.functions[id.Name]
	}
	method, is := c.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	if logger, is := method.X.(*ast.SelectorExpr); is && strings.EqualFold(logger.Sel.Name, "log") {
		return true
	}
	if method.Sel.Name == "After" && len(c.Args) == 1 {
		after, is := c.Args[0].(*ast.FuncLit)
		return is && l.block(after.Body)
	}
	_, own := method.X.(*ast.Ident)
	return own && l.functions[method.Sel.Name]
}

func hasCall(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return !found
		}
		id, plain := call.Fun.(*ast.Ident)
		found = found || !plain || id.Name != "len"
		return !found
	})
	return found
}

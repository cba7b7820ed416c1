package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// logging knows which code of a package only writes log lines. A missing or different log line costs no money, so
// code that only logs is no site: no test has to notice it.
type logging struct {
	functions map[string]bool // functions and methods that do nothing except logging
}

// loggingOf reads the functions of a package. A function that only calls functions that only log is one as well.
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

// function reports whether a function only logs; preparing the attributes in its own variables is part of that.
func (l logging) function(fn *ast.FuncDecl) bool {
	if fn.Body == nil || fn.Type.Results != nil {
		return false
	}
	logs := false
	for _, s := range fn.Body.List {
		if !l.statement(s) && !prepares(s) {
			return false
		}
		logs = logs || l.statement(s)
	}
	return logs
}

// prepares reports whether a statement only sets variables, or adds to them.
func prepares(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			if _, is := e.(*ast.Ident); !is {
				return false
			}
		}
		return !slices.ContainsFunc(s.Rhs, hasCall)
	case *ast.IfStmt:
		return s.Init == nil && s.Else == nil && !hasCall(s.Cond) && !slices.ContainsFunc(s.Body.List, func(s ast.Stmt) bool {
			return !prepares(s)
		})
	}
	return false
}

func (l logging) block(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		if !l.statement(s) {
			return false
		}
	}
	return true
}

// statement reports whether a statement has no effect except log lines.
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

// call reports whether a call only logs: a method of something named Log, a function that only logs, or a callback
// for after the commit that only logs.
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

// hasCall reports whether an expression calls something that may have an effect.
func hasCall(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is && !harmless(call) {
			found = true
		}
		return !found
	})
	return found
}

func harmless(c *ast.CallExpr) bool {
	switch called := c.Fun.(type) {
	case *ast.Ident:
		return called.Name == "len" || called.Name == "append"
	case *ast.SelectorExpr:
		if slices.Contains([]string{"Capabilities", "IsZero", "Error"}, called.Sel.Name) {
			return true
		}
		of, is := called.X.(*ast.Ident)
		return is && (of.Name == "ctx" && called.Sel.Name == "Err" || of.Name == "errors")
	}
	return false
}

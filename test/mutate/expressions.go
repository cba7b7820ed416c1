package main

import (
	"go/ast"
	"go/token"
)

// expressions visits an expression and, through function literals, the statements inside it.
func (f *finder) expressions(e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.block(n.Body, onlyError(n.Type))
			return false
		case *ast.BinaryExpr:
			f.binary(n)
		case *ast.Ident:
			f.constant(n)
		case *ast.KeyValueExpr:
			f.expressions(n.Value)
			return false
		case *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.FuncType, *ast.InterfaceType:
			return false
		}
		return true
	})
}

func (f *finder) constant(n *ast.Ident) {
	switch n.Name {
	case "true":
		f.add("false", n, "(!mutantOn(#) && ", ")")
	case "false":
		f.add("true", n, "(mutantOn(#) || ", ")")
	}
}

func (f *finder) binary(n *ast.BinaryExpr) {
	x, y := f.text(n.X), f.text(n.Y)
	switch n.Op {
	case token.LOR:
		f.add("and", n, "mutantOr(#, ", ")")
		f.between(n, ", func() bool { return (", ") }")
	case token.LAND:
		f.add("or", n, "mutantAnd(#, ", ")")
		f.between(n, ", func() bool { return (", ") }")
	case token.EQL, token.NEQ:
		f.add("not", n, "((", ") != mutantOn(#))")
	case token.LSS, token.GTR:
		f.add("or equal", n, "((", ") || mutantOn(#) && "+x+" == "+y+")")
	case token.LEQ, token.GEQ:
		f.add("not equal", n, "((", ") && !(mutantOn(#) && "+x+" == "+y+"))")
	}
}

// between replaces the operator of a binary expression by a separator and closes the second operand.
func (f *finder) between(n *ast.BinaryExpr, separator, end string) {
	last := &f.sites[len(f.sites)-1]
	depth := last.edit[0].depth
	last.edit = append(last.edit, edit{at: f.offset(n.OpPos), text: separator + "/*", depth: depth},
		edit{at: f.offset(n.OpPos) + len(n.Op.String()), text: "*/ ", depth: depth, close: true},
		edit{at: f.offset(n.End()), text: end, depth: depth + 1, close: true})
}

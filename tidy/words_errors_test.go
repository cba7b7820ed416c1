package tidy_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

// beginsWithIt are the texts of errors that name nothing when they are read alone, also behind what they wrap.
var beginsWithIt = regexp.MustCompile(`^(%[wv]: )?it\b`)

// An error is read in a log or in a client's terminal, far from what it is about, so it names its object: "the order
// expired at …", not "it expired at …".
func TestErrorsNameTheirObject(t *testing.T) {
	atRoot(t)
	looked := 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 || !makesAnError(call.Fun) {
				return true
			}
			looked++
			if text := textOf(call.Args[0]); beginsWithIt.MatchString(text) {
				t.Errorf("%s: the error %q begins with it, want the name of its object", s.files.Position(call.Pos()), text)
			}
			return true
		})
	}
	if looked < 1000 {
		t.Errorf("looked at %d errors, want at least 1000", looked)
	}
}

// makesAnError reports whether a function is errors.New or fmt.Errorf.
func makesAnError(f ast.Expr) bool {
	selector, is := f.(*ast.SelectorExpr)
	if !is {
		return false
	}
	pkg, is := selector.X.(*ast.Ident)
	return is && (pkg.Name == "errors" && selector.Sel.Name == "New" || pkg.Name == "fmt" && selector.Sel.Name == "Errorf")
}

// textOf returns a text that is written out, in one piece or in several; empty for any other expression.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	}
	return ""
}

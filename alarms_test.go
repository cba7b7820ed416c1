package bursar_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryAlarmIsDocumented compares the table of docs/operations.md with the kinds of alarm that the code raises, in
// both directions: an operator finds what to do about each, and reads of none that cannot occur.
func TestEveryAlarmIsDocumented(t *testing.T) {
	documented := documentedAlarms(t)
	raised := raisedAlarms(t)
	if len(raised) < 10 {
		t.Errorf("only %v are raised: is an alarm written in another form?", raised)
	}
	for _, kind := range raised {
		if !slices.Contains(documented, kind) {
			t.Errorf("docs/operations.md does not say what to do about the alarm %s", kind)
		}
	}
	for _, kind := range documented {
		if !slices.Contains(raised, kind) {
			t.Errorf("docs/operations.md explains the alarm %s, which nothing raises", kind)
		}
	}
}

var namedKind = regexp.MustCompile("`([a-z_]+)`")

// documentedAlarms reads the table under "Alarms", whose rows are "| kinds | meaning | what to do |".
func documentedAlarms(t *testing.T) (kinds []string) {
	t.Helper()
	text, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Alarms\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, m := range namedKind.FindAllStringSubmatch(cells[1], -1) {
			if len(strings.TrimSpace(cells[2])) < 10 || len(strings.TrimSpace(cells[3])) < 10 {
				t.Errorf("the alarm %s lacks its meaning or what to do", m[1])
			}
			kinds = append(kinds, m[1])
		}
	}
	return kinds
}

// raisedAlarms finds the kinds in the code: the field Kind of every Alarm literal, as text or by a constant.
func raisedAlarms(t *testing.T) (kinds []string) {
	t.Helper()
	list := sources(t)
	constants := map[string]string{}
	for _, s := range list {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					constants[name.Name] = text(spec.Values[i])
				}
			}
			return true
		})
	}
	for _, s := range list {
		ast.Inspect(s.file, func(n ast.Node) bool {
			value := kindOf(n)
			if value == nil {
				return true
			}
			kind := text(value)
			if name := lastName(value); kind == "" {
				kind = constants[name]
			}
			if kind == "" {
				t.Errorf("%s: the kind of an alarm is neither text nor a constant", s.files.Position(n.Pos()))
			}
			kinds = append(kinds, kind)
			return true
		})
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// kindOf returns the value of Kind where the node is an Alarm literal.
func kindOf(n ast.Node) ast.Expr {
	literal, is := n.(*ast.CompositeLit)
	if !is || lastName(literal.Type) != "Alarm" {
		return nil
	}
	for _, element := range literal.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is && lastName(pair.Key) == "Kind" {
			return pair.Value
		}
	}
	return nil
}

// lastName returns the name of an identifier, or of the selected field or method.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// text returns the value of a string literal, or "".
func text(e ast.Expr) string {
	if literal, is := e.(*ast.BasicLit); is {
		s, _ := strconv.Unquote(literal.Value)
		return s
	}
	return ""
}

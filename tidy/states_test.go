package tidy_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updateStates = flag.Bool("update", false, "draw the diagrams of docs/states.md as the transition tables are")

const statesPath = "docs/states.md"

// diagrams says under which heading of docs/states.md each transition table is drawn, and with which statuses its
// objects begin, which no table says.
var diagrams = map[string]struct {
	heading string
	begins  []string
}{
	"depositTransitions":    {"Deposits", []string{"pending"}},
	"withdrawalTransitions": {"Withdrawals", []string{"pending_approval", "queued"}},
	"outgoingTransitions":   {"Outgoing transactions", []string{"new"}},
	"resolutionTransitions": {"Resolutions", []string{"queued", "done"}},
}

// The diagrams of docs/states.md show every transition table of the domain types as the code has it.
func TestTheStatesAreDrawnAsTheTablesAre(t *testing.T) {
	atRoot(t)
	written, err := os.ReadFile(statesPath)
	if err != nil {
		t.Fatal(err)
	}
	drawn := string(written)
	tables := transitionTables(t)
	for name := range diagrams {
		if tables[name] == nil {
			t.Errorf("%s is to be drawn, and is no transition table", name)
		}
	}
	for name, table := range tables {
		diagram, known := diagrams[name]
		if !known {
			t.Errorf("the transition table %s is in no diagram: add a heading to %s and a line to tidy/states_test.go", name,
				statesPath)
			continue
		}
		drawn = redraw(t, drawn, diagram.heading, table.draw(diagram.begins))
	}
	if *updateStates {
		if err := os.WriteFile(statesPath, []byte(drawn), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if drawn != string(written) {
		t.Errorf("%s does not show what the transition tables say: go test ./tidy -run TestTheStates -update", statesPath)
	}
}

// transitionTable is a table of the code: its statuses in the order in which they are declared, and what follows each.
type transitionTable struct {
	statuses []string
	next     map[string][]string
}

// draw returns the table as a mermaid diagram.
func (table transitionTable) draw(begins []string) string {
	lines := []string{"```mermaid", "stateDiagram-v2"}
	for _, status := range begins {
		lines = append(lines, "    [*] --> "+status)
	}
	for _, from := range table.statuses {
		for _, to := range table.statuses {
			if slices.Contains(table.next[from], to) {
				lines = append(lines, fmt.Sprintf("    %s --> %s", from, to))
			}
		}
		if len(table.next[from]) == 0 {
			lines = append(lines, fmt.Sprintf("    %s --> [*]", from))
		}
	}
	return strings.Join(append(lines, "```"), "\n")
}

// redraw replaces the diagram under a heading.
func redraw(t *testing.T, text, heading, diagram string) string {
	t.Helper()
	old := regexp.MustCompile(`(?s)(\n## ` + heading + "\n.*?)```mermaid\n.*?```")
	at := old.FindStringSubmatchIndex(text)
	if at == nil || strings.Contains(text[at[2]+4:at[3]], "\n## ") {
		t.Fatalf("%s has no diagram under the heading %q", statesPath, heading)
	}
	return text[:at[3]] + diagram + text[at[1]:]
}

// transitionTables reads the tables of the domain types, by the name of their variable.
func transitionTables(t *testing.T) map[string]*transitionTable {
	t.Helper()
	var files []*ast.File
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	statuses := typedConstants(t, files)
	tables := map[string]*transitionTable{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) == 1 {
				if literal, of := asTable(spec.Values[0]); literal != nil {
					tables[spec.Names[0].Name] = readTable(t, literal, statuses[of])
				}
			}
			return true
		})
	}
	return tables
}

// constant is a named value of a type of strings.
type constant struct{ name, value string }

// typedConstants returns the constants of each type of strings, in their order.
func typedConstants(t *testing.T, files []*ast.File) map[string][]constant {
	t.Helper()
	found := map[string][]constant{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 {
				return true
			}
			of, typed := spec.Type.(*ast.Ident)
			literal, is := spec.Values[0].(*ast.BasicLit)
			if !typed || !is || literal.Kind != token.STRING {
				return true
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[of.Name] = append(found[of.Name], constant{spec.Names[0].Name, value})
			return true
		})
	}
	return found
}

// asTable returns a literal of transitions[S] and the name of S, or nil.
func asTable(e ast.Expr) (literal *ast.CompositeLit, of string) {
	literal, is := e.(*ast.CompositeLit)
	if !is {
		return nil, ""
	}
	generic, is := literal.Type.(*ast.IndexExpr)
	if !is {
		return nil, ""
	}
	name, is := generic.X.(*ast.Ident)
	status, named := generic.Index.(*ast.Ident)
	if !is || !named || name.Name != "transitions" {
		return nil, ""
	}
	return literal, status.Name
}

// readTable reads a table's literal by the constants of its statuses.
func readTable(t *testing.T, literal *ast.CompositeLit, statuses []constant) *transitionTable {
	t.Helper()
	value := func(e ast.Expr) string {
		name, is := e.(*ast.Ident)
		i := slices.IndexFunc(statuses, func(c constant) bool { return is && c.name == name.Name })
		if i < 0 {
			t.Fatalf("a transition table has %v, which is no constant of its status", e)
		}
		return statuses[i].value
	}
	table := &transitionTable{next: map[string][]string{}}
	for _, c := range statuses {
		table.statuses = append(table.statuses, c.value)
	}
	for _, e := range literal.Elts {
		row := e.(*ast.KeyValueExpr)
		for _, to := range row.Value.(*ast.CompositeLit).Elts {
			table.next[value(row.Key)] = append(table.next[value(row.Key)], value(to))
		}
	}
	return table
}

package tidy_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

// TestEveryAlarmIsDocumented compares the table of docs/operations.md with the kinds of alarm that the code raises, in
// both directions: an operator finds what to do about each, and reads of none that cannot occur.
func TestEveryAlarmIsDocumented(t *testing.T) {
	atRoot(t)
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
				t.Errorf("the alarm %s lacks its meaning or what to do, want at least 10", m[1])
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

// TestEveryKindOfAlarmIsKnown compares the list of kinds with what is raised: a configuration may name each, and each
// is grave or not.
func TestEveryKindOfAlarmIsKnown(t *testing.T) {
	atRoot(t)
	if known, raised := bursar.AlarmKinds(), raisedAlarms(t); !slices.Equal(known, raised) {
		t.Errorf("the known kinds of alarm are %q, want those that are raised: %q", known, raised)
	}
}

// TestEveryAlarmAndAlertHasARunbook checks that each says what is in danger, how to see it and what to do, and leads
// there. TestDocumentedCommandsExist holds that every command in them exists.
func TestEveryAlarmAndAlertHasARunbook(t *testing.T) {
	atRoot(t)
	runbooks := readRunbooks(t)
	known := map[string]bool{"approvals": true, "withdrawals": true, "solvency": true}
	for _, kind := range bursar.AlarmKinds() {
		known[kind] = true
		text := runbooks[kind]
		for _, part := range []string{"Money in danger", "See", "Do", "Closes"} {
			if !strings.Contains(text, "\n- **"+part+".** ") {
				t.Errorf("docs/runbooks.md does not say %q of the alarm %s", part, kind)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(text), "Grave. ") != bursar.IsGrave(kind) {
			t.Errorf("docs/runbooks.md says of the alarm %s that it is grave, or does not; grave is %t", kind,
				bursar.IsGrave(kind))
		}
	}
	rules, err := os.ReadFile("docs/observability/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := strings.Split(string(rules), "- alert: ")[1:]
	if len(alerts) < 20 {
		t.Errorf("only %d alerts are found", len(alerts))
	}
	for _, alert := range alerts {
		name, _, _ := strings.Cut(alert, "\n")
		known[name] = true
		anchor := strings.ToLower(name)
		if name == "BursarAlarm" {
			anchor = "{{ $labels.kind }}"
		}
		if url := `runbook_url: "https://bursar.example/docs/runbooks#` + anchor + `"`; !strings.Contains(alert, url) {
			t.Errorf("the alert %s has no %s", name, url)
		}
	}
	for name := range known {
		if !strings.Contains(runbooks[name], "\n- **See.** ") || !strings.Contains(runbooks[name], "\n- **Do.** ") {
			t.Errorf("docs/runbooks.md does not say how to see %s and what to do", name)
		}
	}
	for name := range runbooks {
		if !known[name] {
			t.Errorf("docs/runbooks.md has a section %s, which is neither an alarm, an alert nor a kind of notice", name)
		}
	}
	checkGraveList(t)
	if path, want := bursar.RunbookPath("uncovered"), "/docs/runbooks#uncovered"; path != want {
		t.Errorf("the runbook of uncovered is at %s, want %s", path, want)
	}
}

// checkGraveList compares the list in the document about notices.
func checkGraveList(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("docs/operations/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What is grave\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed, grave []string
	for _, m := range namedKind.FindAllStringSubmatch(section, -1) {
		listed = append(listed, m[1])
	}
	for _, kind := range bursar.AlarmKinds() {
		if bursar.IsGrave(kind) {
			grave = append(grave, kind)
		}
	}
	if !slices.Equal(listed, grave) {
		t.Errorf("docs/operations/notices.md lists %q as grave, want %q", listed, grave)
	}
}

// readRunbooks returns the sections of docs/runbooks.md by their names.
func readRunbooks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, section := range strings.Split(string(text), "\n### ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		body, _, _ = strings.Cut(body, "\n## ")
		found[name] = body
	}
	return found
}

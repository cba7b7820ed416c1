package store

import (
	"errors"
	"slices"
	"testing"
)

// Each value has the number of its argument, and an expression has none.
func TestAStatementNumbersWhatItWrites(t *testing.T) {
	written := values{{"a", "x"}, {"b", expression("CASE WHEN $1 = 'x' THEN 1 ELSE 2 END")}, {"c", 7}}
	for name, want := range map[string]struct {
		text string
		args []any
	}{
		"insert": {"INSERT INTO things(a, b, c) VALUES ($1, CASE WHEN $1 = 'x' THEN 1 ELSE 2 END, $2)", []any{"x", 7}},
		"update": {
			"UPDATE things SET a = $2, b = CASE WHEN $1 = 'x' THEN 1 ELSE 2 END, c = $3 WHERE id = $1",
			[]any{"one", "x", 7},
		},
	} {
		text, args := written.insertInto("things")
		if name == "update" {
			text, args = written.update("things", "WHERE id = $1", "one")
		}
		if text != want.text || !slices.Equal(args, want.args) {
			t.Errorf("%s is %q with %v, want %q with %v", name, text, args, want.text, want.args)
		}
	}
}

// Many rows are one text on PostgreSQL, and one row's text again and again on SQLite.
func TestAnInsertionHoldsManyRows(t *testing.T) {
	in := insertion{table: "things", after: " ON CONFLICT DO NOTHING"}
	in.add(values{{"a", 1}, {"b", 2}})
	in.add(values{{"a", 3}, {"b", 4}})
	if got, want := in.text(2), "INSERT INTO things(a, b) VALUES ($1,$2),($3,$4) ON CONFLICT DO NOTHING"; got != want {
		t.Errorf("the text of two rows is %q, want %q", got, want)
	}
	if !slices.Equal(in.args, []any{1, 2, 3, 4}) {
		t.Errorf("the arguments of two rows are %v", in.args)
	}
}

// part and whole are rows whose columns are composed.
type part struct{ a, b int }

type whole struct {
	part
	c int
}

// countingRow writes 1, 2, 3 … into what it is scanned into.
type countingRow struct{ fails error }

func (r countingRow) Scan(into ...any) error {
	for i := range into {
		*into[i].(*int) = i + 1
	}
	return r.fails
}

// A part's columns are read into the part, before those of the whole.
func TestColumnsOfAPartAreReadIntoIt(t *testing.T) {
	parts := columnsOf([]column[part]{
		{"a", func(p *part) any { return &p.a }},
		{"b", func(p *part) any { return &p.b }},
	})
	wholes := columnsWithin(parts.of("t"), func(w *whole) *part { return &w.part },
		column[whole]{"c", func(w *whole) any { return &w.c }})
	if parts.names != "a, b" || wholes.names != "t.a, t.b, c" {
		t.Errorf("the columns are %q, and of the whole %q", parts.names, wholes.names)
	}
	failure := errors.New("no row")
	if row, err := wholes.scan(countingRow{failure}); row != (whole{part{1, 2}, 3}) || !errors.Is(err, failure) {
		t.Errorf("read %+v, %v", row, err)
	}
}

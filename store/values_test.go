package store

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/bursar/bursar"
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

// Many rows are one text on PostgreSQL, whatever their number, and one row's text again and again on SQLite.
func TestAnInsertionHoldsManyRows(t *testing.T) {
	in := insertion{table: "things", after: " ON CONFLICT DO NOTHING"}
	in.add(values{{"a", 1}, {"b", "x"}})
	one, args, err := in.together()
	if want := "INSERT INTO things(a, b) VALUES ($1,$2) ON CONFLICT DO NOTHING"; err != nil || one != want ||
		in.text() != want || !slices.Equal(args, []any{1, "x"}) {
		t.Errorf("one row is %q with %v, %v, want %q", one, args, err, want)
	}
	in.add(values{{"a", 3}, {"b", "y"}})
	two, args, err := in.together()
	want := "INSERT INTO things(a, b) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING"
	if err != nil || two != want || !reflect.DeepEqual(args, []any{[]int64{1, 3}, []string{"x", "y"}}) {
		t.Errorf("two rows are %q with %v, %v, want %q", two, args, err, want)
	}
	in.add(values{{"a", 5}, {"b", "z"}})
	if three, _, err := in.together(); err != nil || three != two {
		t.Errorf("three rows are %q, %v, want the text of two", three, err)
	}
	behind, args, err := in.together("first")
	want = "INSERT INTO things(a, b) SELECT * FROM unnest($2::bigint[], $3::text[]) ON CONFLICT DO NOTHING"
	if err != nil || behind != want || len(args) != 3 || args[0] != "first" {
		t.Errorf("behind another argument it is %q with %v, %v, want %q", behind, args, err, want)
	}
}

// A column has values of one type that the schema knows; any other is a mistake of the program, found at once.
func TestAColumnHasOneType(t *testing.T) {
	number := int64(7)
	id := bursar.ID{1}
	for name, c := range map[string]struct {
		values  []any
		list    any
		element string
	}{
		"texts":    {[]any{"a", bursar.Units(5)}, []string{"a", "5"}, "text"},
		"numbers":  {[]any{1, int64(2)}, []int64{1, 2}, "bigint"},
		"nullable": {[]any{(*int64)(nil), &number}, []*int64{nil, &number}, "bigint"},
		"truths":   {[]any{true, false}, []bool{true, false}, "boolean"},
		"bytes":    {[]any{id, []byte{2}, bursar.ID{}}, [][]byte{id[:], {2}, nil}, "bytea"},
	} {
		list, element, err := array(c.values)
		if err != nil || element != c.element || !reflect.DeepEqual(list, c.list) {
			t.Errorf("%s are %#v of %s, %v, want %#v of %s", name, list, element, err, c.list, c.element)
		}
	}
	for _, bad := range [][]any{{}, {nil}, {1, "a"}, {"a", nil}, {1.5}, {true, 1}, {[]byte{1}, "a"}} {
		if list, _, err := array(bad); err == nil {
			t.Errorf("%v are %v, want an error", bad, list)
		}
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
		t.Errorf("the columns are %q, and of the whole %q, want %q and %q", parts.names, wholes.names, "a, b", "t.a, t.b, c")
	}
	failure := errors.New("no row")
	if row, err := wholes.scan(countingRow{failure}); row != (whole{part{1, 2}, 3}) || !errors.Is(err, failure) {
		t.Errorf("read %+v, %v, want %+v and %v", row, err, whole{part{1, 2}, 3}, failure)
	}
}

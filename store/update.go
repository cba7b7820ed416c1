package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// update is an UPDATE of many rows of one table. The first columns of a row, as many as keys says, find what the others
// are set in.
type update struct {
	what  string
	table string
	keys  int

	columns []string
	args    []any // the values of all rows, one behind the other
}

// add adds a row; each has the same columns.
func (u *update) add(row values) {
	if u.columns == nil {
		for _, v := range row {
			u.columns = append(u.columns, v.column)
		}
	}
	for _, v := range row {
		u.args = append(u.args, v.is)
	}
}

// text is the statement whose values are as of says: "$3", or "v.c3".
func (u *update) text(from, of string) string {
	var b strings.Builder
	b.WriteString("UPDATE " + u.table + " SET ")
	for i, column := range u.columns[u.keys:] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %s%d", column, of, u.keys+i+1)
	}
	b.WriteString(from)
	for i, column := range u.columns[:u.keys] {
		fmt.Fprintf(&b, "%s%s.%s = %s%d", []string{" WHERE ", " AND "}[min(i, 1)], u.table, column, of, i+1)
	}
	return b.String()
}

// updateRows changes rows and returns how many it found: in one statement on PostgreSQL, and by one that is prepared
// once on SQLite.
func (tx *Tx) updateRows(ctx context.Context, u update) (changed int64, err error) {
	if len(u.args) == 0 {
		return 0, nil
	}
	width := len(u.columns)
	if tx.postgres && len(u.args) > width {
		rows, arrays, err := columnsFirst(u.args, width, 0)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", u.what, err)
		}
		names := make([]string, width)
		for i := range names {
			names[i] = fmt.Sprintf("c%d", i+1)
		}
		from := " FROM (" + rows + ") AS v(" + strings.Join(names, ", ") + ")"
		return tx.exec(ctx, u.what, u.text(from, "v.c"), arrays...)
	}
	for row := range slices.Chunk(u.args, width) {
		n, err := tx.exec(ctx, u.what, u.text("", "$"), row...)
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// insertion is an INSERT of many rows into one table.
type insertion struct {
	what  string
	table string
	after string // what follows the values: " ON CONFLICT …"
	rows  int    // how many are expected
	all   error  // where fewer rows are written than were given; nil: that is right

	into  string // "INSERT INTO t(a, b) "
	width int    // columns
	args  []any  // the values of all rows, one behind the other
}

// add adds a row; each has the same columns.
func (in *insertion) add(row values) {
	if in.width == 0 {
		in.width = len(row)
		in.args = make([]any, 0, len(row)*max(in.rows, 1))
		var b strings.Builder
		b.Grow(row.sizeHint() + len(in.table) + len("INSERT INTO () "))
		row.writeInto(&b, in.table)
		in.into = b.String()
	}
	for _, value := range row {
		in.args = append(in.args, value.is)
	}
}

// text is the statement for one row.
func (in *insertion) text() string { return in.into + "VALUES " + tuples(1, in.width, 0) + in.after }

// together returns the statement that PostgreSQL takes for all rows, and its arguments behind others.
func (in *insertion) together(before ...any) (query string, args []any, err error) {
	if len(in.args) == in.width && len(before) == 0 {
		return in.text(), in.args, nil
	}
	rows, arrays, err := columnsFirst(in.args, in.width, len(before))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", in.what, err)
	}
	return in.into + rows + in.after, append(before, arrays...), nil
}

// insertRows writes rows. PostgreSQL takes them in one statement, beside the next one whose result is needed. On SQLite
// a prepared statement for one row, run again and again, is several times faster: there is no way to and fro to save,
// and binding thousands of values by number costs the square of their count.
func (tx *Tx) insertRows(ctx context.Context, in insertion) error {
	switch {
	case len(in.args) == 0:
		return nil
	case tx.postgres:
		query, args, err := in.together()
		if err != nil {
			return err
		}
		s := pipelined{what: in.what, query: query, args: args}
		if in.all != nil {
			s = in.allOrNone(s)
		}
		return tx.later(ctx, s)
	case in.all == nil:
		return tx.repeat(ctx, in.what, in.text(), in.args, in.width)
	}
	var written int64
	for row := range slices.Chunk(in.args, in.width) {
		n, err := tx.exec(ctx, in.what, in.text(), row...)
		if err != nil {
			return err
		}
		written += n
	}
	if written < int64(len(in.args)/in.width) {
		return in.all
	}
	return nil
}

// allOrNone has the server fail where it writes fewer rows than it was given: it divides by zero then, and does not
// come to a commit that is on its way already.
func (in *insertion) allOrNone(s pipelined) pipelined {
	s.args = append(s.args, len(in.args)/in.width)
	s.query = fmt.Sprintf(`WITH written AS (%s RETURNING 1) SELECT 1 / (count(*) = $%d)::int FROM written`, s.query,
		len(s.args))
	s.explain = func(err error) error {
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == "22012" { // division_by_zero
			return in.all
		}
		return err
	}
	return s
}

// insertReturning is insertRows for a statement that ends with RETURNING, and returns what it returns.
func insertReturning[Row any](
	ctx context.Context, tx *Tx, in insertion, scan func(scanner) (Row, error),
) (*Deferred[[]Row], error) {
	if len(in.args) == 0 {
		return known([]Row(nil)), nil
	}
	if tx.postgres {
		query, args, err := in.together()
		if err != nil {
			return nil, err
		}
		return ask(ctx, tx, in.what, scan, func(list []Row) ([]Row, error) { return list, nil }, query, args...), nil
	}
	var all []Row
	for row := range slices.Chunk(in.args, in.width) {
		returned, err := rows(ctx, tx, in.what, scan, in.text(), row...)
		if err != nil {
			return nil, err
		}
		all = append(all, returned...)
	}
	return known(all), nil
}

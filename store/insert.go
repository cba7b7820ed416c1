package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// insertion is an INSERT of many rows into one table.
type insertion struct {
	what  string
	table string
	after string // what follows the values: " ON CONFLICT …"
	rows  int    // how many are expected

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
		b.Grow(row.room() + len(in.table) + len("INSERT INTO () "))
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

// insertRows writes rows. PostgreSQL takes them in one statement. On SQLite a prepared statement for one row, run
// again and again, is several times faster: there is no way to and fro to save, and binding thousands of values by
// number costs the square of their count.
func (tx *Tx) insertRows(ctx context.Context, in insertion) error {
	_, err := tx.countRows(ctx, in)
	return err
}

// countRows is insertRows, and returns how many rows were written.
func (tx *Tx) countRows(ctx context.Context, in insertion) (written int64, err error) {
	if len(in.args) == 0 {
		return 0, nil
	}
	if tx.postgres {
		query, args, err := in.together()
		if err != nil {
			return 0, err
		}
		return tx.exec(ctx, in.what, query, args...)
	}
	statement, err := tx.prepare(ctx, in.text())
	if err != nil {
		return 0, tx.fail(in.what, err)
	}
	defer statement.Close()
	for row := range slices.Chunk(in.args, in.width) {
		result, err := statement.ExecContext(ctx, row...)
		if err != nil {
			return written, tx.fail(in.what, err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return written, tx.fail(in.what, err)
		}
		written += n
	}
	return written, nil
}

// insertReturning is insertRows for a statement that ends with RETURNING; scan is called for every row that it returns.
func (tx *Tx) insertReturning(ctx context.Context, in insertion, scan func(scanner) error) error {
	if len(in.args) == 0 {
		return nil
	}
	scanRow := func(s scanner) (struct{}, error) { return struct{}{}, scan(s) }
	if tx.postgres {
		query, args, err := in.together()
		if err != nil {
			return err
		}
		_, err = rows(ctx, tx, in.what, scanRow, query, args...)
		return err
	}
	for row := range slices.Chunk(in.args, in.width) {
		if _, err := rows(ctx, tx, in.what, scanRow, in.text(), row...); err != nil {
			return err
		}
	}
	return nil
}

package store

import (
	"context"
	"strings"
)

// insertion is an INSERT of many rows into one table.
type insertion struct {
	what  string
	table string
	after string // what follows the values: " ON CONFLICT …"
	rows  int    // how many are expected

	into  string // "INSERT INTO t(a, b) VALUES "
	width int    // columns
	args  []any  // the values of all rows, one behind the other
}

// add adds a row; each has the same columns.
func (in *insertion) add(row values) {
	if in.width == 0 {
		in.width = len(row)
		in.args = make([]any, 0, len(row)*max(in.rows, 1))
		var b strings.Builder
		b.Grow(row.room() + len(in.table) + len("INSERT INTO () VALUES "))
		row.writeInto(&b, in.table)
		in.into = b.String()
	}
	for _, value := range row {
		in.args = append(in.args, value.is)
	}
}

// text is the statement for n rows.
func (in *insertion) text(n int) string { return in.into + tuples(n, in.width, 0) + in.after }

// insertRows writes rows. PostgreSQL takes them in one statement. On SQLite a prepared statement for one row, run
// again and again, is several times faster: there is no way to and fro to save, and binding thousands of values by
// number costs the square of their count.
func (tx *Tx) insertRows(ctx context.Context, in insertion) error {
	if len(in.args) == 0 {
		return nil
	}
	n := len(in.args) / in.width
	if tx.postgres || n == 1 {
		_, err := tx.exec(ctx, in.what, in.text(n), in.args...)
		return err
	}
	statement, err := tx.prepare(ctx, in.text(1))
	if err != nil {
		return tx.fail(in.what, err)
	}
	defer statement.Close()
	for i := range n {
		if _, err := statement.ExecContext(ctx, in.args[i*in.width:(i+1)*in.width]...); err != nil {
			return tx.fail(in.what, err)
		}
	}
	return nil
}

// insertReturning is insertRows for a statement that ends with RETURNING; scan is called for every row that it returns.
func (tx *Tx) insertReturning(ctx context.Context, in insertion, scan func(scanner) error) error {
	step := len(in.args)
	if !tx.postgres {
		step = in.width
	}
	for from := 0; from < len(in.args); from += step {
		_, err := rows(ctx, tx, in.what, func(s scanner) (struct{}, error) { return struct{}{}, scan(s) },
			in.text(step/in.width), in.args[from:from+step]...)
		if err != nil {
			return err
		}
	}
	return nil
}

package store

import (
	"context"
)

// insertion is an INSERT of many rows: into names the table and its columns, after stands behind the values.
type insertion struct {
	what  string
	into  string // "INSERT INTO t(a, b) VALUES "
	after string // " ON CONFLICT …"
	width int    // columns
}

// insertRows writes rows whose values lie one behind the other in args. PostgreSQL takes them in one statement. On SQLite
// a prepared statement for one row, run again and again, is several times faster: there is no way to and fro to save,
// and binding thousands of values by number costs the square of their count.
func (tx *Tx) insertRows(ctx context.Context, in insertion, args []any) error {
	n := len(args) / in.width
	if n == 0 {
		return nil
	}
	if tx.postgres || n == 1 {
		_, err := tx.exec(ctx, in.what, in.into+tuples(n, in.width, 0)+in.after, args...)
		return err
	}
	statement, err := tx.prepare(ctx, in.into+tuples(1, in.width, 0)+in.after)
	if err != nil {
		return tx.fail(in.what, err)
	}
	defer statement.Close()
	for i := range n {
		if _, err := statement.ExecContext(ctx, args[i*in.width:(i+1)*in.width]...); err != nil {
			return tx.fail(in.what, err)
		}
	}
	return nil
}

// insertReturning is insertRows for a statement that ends with RETURNING; scan is called for every row that it returns.
func (tx *Tx) insertReturning(ctx context.Context, in insertion, args []any, scan func(scanner) error) error {
	step := len(args)
	if !tx.postgres {
		step = in.width
	}
	for from := 0; from < len(args); from += step {
		_, err := rows(ctx, tx, in.what, func(s scanner) (struct{}, error) { return struct{}{}, scan(s) },
			in.into+tuples(step/in.width, in.width, 0)+in.after, args[from:from+step]...)
		if err != nil {
			return err
		}
	}
	return nil
}

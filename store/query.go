package store

import (
	"context"
	"errors"
)

// forUpdate locks the rows a query reads until the transaction ends. On SQLite the transaction holds the only write
// lock. A View locks nothing: PostgreSQL refuses that in a transaction that only reads.
func (tx *Tx) forUpdate() string {
	if tx.postgres && !tx.reads {
		return " FOR UPDATE"
	}
	return ""
}

func (tx *Tx) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	if err := tx.before(ctx, Running, query); err != nil {
		return 0, tx.fail(what, err)
	}
	n, err := tx.session.exec(ctx, query, args)
	if err != nil {
		return 0, tx.fail(what, err)
	}
	return n, nil
}

// later is exec for a statement whose result nobody needs before the commit. On PostgreSQL its error comes with the
// result of a later statement.
func (tx *Tx) later(ctx context.Context, s pipelined) error {
	err := tx.before(ctx, Running, s.query)
	if err == nil {
		err = tx.session.later(ctx, s)
	}
	if err != nil {
		return tx.fail(s.what, err)
	}
	return nil
}

// repeat is exec of a statement for each width of args.
func (tx *Tx) repeat(ctx context.Context, what, query string, args []any, width int) error {
	err := tx.before(ctx, Running, query)
	if err == nil {
		err = tx.session.repeat(ctx, query, args, width)
	}
	if err != nil {
		return tx.fail(what, err)
	}
	return nil
}

// change is exec for a statement that must meet exactly one row; none is ErrNotFound.
func (tx *Tx) change(ctx context.Context, what, query string, args ...any) error {
	return tx.changeOr(ctx, what, missing{what, args}, query, args...)
}

// changeOr is change with another error for no row.
func (tx *Tx) changeOr(ctx context.Context, what string, errNone error, query string, args ...any) error {
	n, err := tx.exec(ctx, what, query, args...)
	if err == nil && n == 0 {
		return errNone
	}
	return err
}

// row scans the one row of a query; no row is ErrNotFound.
func (tx *Tx) row(ctx context.Context, what, query string, args []any, dest ...any) error {
	_, err := one(ctx, tx, what, func(s scanner) (struct{}, error) { return struct{}{}, s.Scan(dest...) }, query, args...)
	return err
}

func (tx *Tx) query(ctx context.Context, query string, args ...any) (cursor, error) {
	if err := tx.before(ctx, Running, query); err != nil {
		return nil, err
	}
	return tx.session.query(ctx, query, args)
}

func rows[T any](ctx context.Context, tx *Tx, what string, scan func(scanner) (T, error), query string,
	args ...any) ([]T, error) {
	found, err := tx.query(ctx, query, args...)
	if err != nil {
		return nil, tx.fail(what, err)
	}
	defer found.Close()
	list, err := collect(found, scan)
	if err != nil {
		return nil, tx.fail(what, err)
	}
	return list, nil
}

// one returns the one row of a query; no row is ErrNotFound.
func one[T any](ctx context.Context, tx *Tx, what string, scan func(scanner) (T, error), query string,
	args ...any) (T, error) {
	var item T
	found, err := tx.query(ctx, query, args...)
	if err != nil {
		return item, tx.fail(what, err)
	}
	there := found.Next()
	if there {
		item, err = scan(found)
	}
	if err = errors.Join(err, found.Close(), found.Err()); err != nil {
		return item, tx.fail(what, err)
	}
	if !there {
		return item, missing{what, args}
	}
	return item, nil
}

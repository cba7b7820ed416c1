package store

import (
	"context"
	"strings"
)

// column is one column of a query, beside the field that its value goes into.
type column[T any] struct {
	name string
	into func(*T) any
}

// columns are what a query selects, in their order.
type columns[T any] struct {
	list  []column[T]
	names string // "a, b", as it follows RETURNING
	query string // "SELECT a, b "
}

// columnsOf makes the text of a list of columns once, so that no query makes it.
func columnsOf[T any](list []column[T]) *columns[T] {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
	}
	text := strings.Join(names, ", ")
	return &columns[T]{list, text, "SELECT " + text + " "}
}

// scan reads one row.
func (c *columns[T]) scan(s scanner) (row T, err error) {
	into := make([]any, len(c.list))
	for i, column := range c.list {
		into[i] = column.into(&row)
	}
	err = s.Scan(into...)
	return row, err
}

// one reads the row of a query, whose columns these are; no row is ErrNotFound. from is what follows the columns.
func (c *columns[T]) one(ctx context.Context, tx *Tx, what, from string, args ...any) (T, error) {
	return one(ctx, tx, what, c.scan, c.query+from, args...)
}

// rows reads the rows of a query, as one does.
func (c *columns[T]) rows(ctx context.Context, tx *Tx, what, from string, args ...any) ([]T, error) {
	return rows(ctx, tx, what, c.scan, c.query+from, args...)
}

// scanOne reads a row of one column.
func scanOne[T any](s scanner) (value T, err error) {
	err = s.Scan(&value)
	return value, err
}

// columnsWithin returns the columns of a part of a row, and more columns behind them.
func columnsWithin[T, Part any](of *columns[Part], part func(*T) *Part, more ...column[T]) *columns[T] {
	list := make([]column[T], 0, len(of.list)+len(more))
	for _, c := range of.list {
		list = append(list, column[T]{c.name, func(row *T) any { return c.into(part(row)) }})
	}
	return columnsOf(append(list, more...))
}

// of returns columns that are nothing but names as those of one table among several.
func (c *columns[T]) of(table string) *columns[T] {
	list := make([]column[T], len(c.list))
	for i, column := range c.list {
		list[i] = column
		list[i].name = table + "." + column.name
	}
	return columnsOf(list)
}

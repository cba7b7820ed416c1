package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/bursar/bursar/signer/command"
)

// list prints values as one JSON array, or as a table with a row for each.
func list[T any](c *call, asJSON bool, values []T, head string, row func(T) []any) error {
	return command.List(&c.Call, asJSON, values, head, row)
}

// pairs prints names and values, one pair per line.
func (c *call) pairs(pairs ...string) error {
	named := actFacts{}
	for i := 0; i+1 < len(pairs); i += 2 {
		named[pairs[i]] = pairs[i+1]
	}
	if c.Keep(named) {
		return nil
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(w, "%s\t%s\n", pairs[i], pairs[i+1])
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func cell(value any) string { return command.Cell(value) }

func moment(t time.Time) string { return command.Moment(t) }

// optional returns nil, which is null in JSON, for a zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

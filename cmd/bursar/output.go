package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// printJSON prints a value on one line.
func (c *call) printJSON(value any) error {
	encoder := json.NewEncoder(c.stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// list prints values as one JSON array, or as a table with a row for each.
func list[T any](c *call, asJSON bool, values []T, head string, row func(T) []any) error {
	if asJSON {
		return c.printJSON(append([]T{}, values...)) // [] and never null
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, value := range values {
		var cells []string
		for _, v := range row(value) {
			cells = append(cells, cell(v))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// pairs prints names and values, one pair per line.
func (c *call) pairs(pairs ...string) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(w, "%s\t%s\n", pairs[i], pairs[i+1])
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// say prints a line of result.
func (c *call) say(format string, args ...any) error {
	if _, err := fmt.Fprintf(c.stdout, format+"\n", args...); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// cell formats a value for one cell, so that it cannot move a terminal's cursor or break the table.
func cell(value any) string {
	text := fmt.Sprint(value)
	if t, ok := value.(time.Time); ok {
		text = moment(t)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if text == "" {
		return "-"
	}
	return text
}

// moment formats a time for a table.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// optional returns nil, which is null in JSON, for a zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

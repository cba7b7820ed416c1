package command

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// List prints values as one JSON array, or as a table with a row for each.
func List[T any](c *Call, asJSON bool, values []T, head string, row func(T) []any) error {
	if asJSON {
		return c.PrintJSON(append([]T{}, values...)) // [] and never null
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, value := range values {
		var cells []string
		for _, v := range row(value) {
			cells = append(cells, Cell(v))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

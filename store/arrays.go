package store

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bursar/bursar"
)

// PostgreSQL takes any number of values as one array. The text of such a statement is the same for any number, so that
// each connection parses and plans it once, and not once for each number of values.

// array returns the values of one column as the driver takes them for an array of PostgreSQL, and the type of its
// elements. The values have one type of those that the schema knows: text (never NULL), bigint (NULL as a nil *int64),
// boolean (never NULL), and bytea.
func array(values []any) (list any, element string, err error) {
	if len(values) == 0 {
		return nil, "", fmt.Errorf("an array of no values has no type")
	}
	switch values[0].(type) {
	case string, bursar.Amount:
		list, err = arrayOf(values, textOf)
		return list, "text", err
	case int, int64:
		list, err = arrayOf(values, numberOf)
		return list, "bigint", err
	case *int64:
		list, err = arrayOf(values, func(v any) (n *int64, fits bool) { n, fits = v.(*int64); return n, fits })
		return list, "bigint", err
	case bool:
		list, err = arrayOf(values, func(v any) (is, fits bool) { is, fits = v.(bool); return is, fits })
		return list, "boolean", err
	case []byte, bursar.ID:
		list, err = arrayOf(values, bytesOf)
		return list, "bytea", err
	}
	return nil, "", fmt.Errorf("no column takes a %T", values[0])
}

func arrayOf[T any](values []any, of func(any) (T, bool)) ([]T, error) {
	list := make([]T, len(values))
	for i, v := range values {
		var fits bool
		if list[i], fits = of(v); !fits {
			return nil, fmt.Errorf("a column takes no %T beside a %T", v, values[0])
		}
	}
	return list, nil
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bursar.Amount:
		return v.String(), true
	}
	return "", false
}

func numberOf(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// bytesOf returns NULL for the zero ID, as its Value is.
func bytesOf(v any) ([]byte, bool) {
	switch v := v.(type) {
	case []byte:
		return v, true
	case bursar.ID:
		if v.IsZero() {
			return nil, true
		}
		return v[:], true
	}
	return nil, false
}

// among returns the condition that a column has one of some values, and args with what it takes behind them.
func among[T any](tx *Tx, column string, values []T, args ...any) (condition string, _ []any) {
	offset := len(args)
	for _, v := range values {
		args = append(args, v)
	}
	if tx.postgres {
		if all, element, err := array(args[offset:]); err == nil {
			return fmt.Sprintf("%s = ANY(%s::%s[])", column, unknownArray(offset+1, element), element),
				append(args[:offset:offset], all)
		}
	}
	return column + " IN (" + list(len(values), offset) + ")", args
}

// arraysOf returns the values of rows, each with width columns and one behind the other, as one array for each column,
// and the types of their elements.
func arraysOf(rows []any, width int) (arrays []any, elements []string, err error) {
	n := len(rows) / width
	column := make([]any, n)
	for c := range width {
		for row := range n {
			column[row] = rows[row*width+c]
		}
		all, element, err := array(column)
		if err != nil {
			return nil, nil, fmt.Errorf("column %d: %w", c+1, err)
		}
		arrays, elements = append(arrays, all), append(elements, element)
	}
	return arrays, elements, nil
}

// columnsFirst returns the values of rows as arraysOf does, and the query that makes rows of them again; the arrays
// follow offset other arguments.
func columnsFirst(rows []any, width, offset int) (query string, arrays []any, err error) {
	arrays, elements, err := arraysOf(rows, width)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	b.WriteString("SELECT * FROM unnest(")
	for c, element := range elements {
		if c > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d::%s[]", offset+c+1, element)
	}
	b.WriteByte(')')
	return b.String(), arrays, nil
}

// within returns the condition that width columns have one of some lists of values, and their arguments behind args.
func within(tx *Tx, columns string, width int, values []any, args ...any) (condition string, _ []any, err error) {
	if !tx.postgres {
		return columns + " IN (VALUES " + tuples(len(values)/width, width, len(args)) + ")", append(args, values...), nil
	}
	source, arrays, err := rowsOfArrays(values, width, len(args))
	return columns + " IN (SELECT * FROM " + source + ")", append(args, arrays...), err
}

// pairs is within for two columns.
func pairs(tx *Tx, columns string, values []any, args ...any) (condition string, _ []any, err error) {
	return within(tx, columns, 2, values, args...)
}

// atOnce is how many values one statement takes on SQLite, which binds each by itself, in a time that grows with the
// square of their number.
const atOnce = 500

// parts returns a list in the parts that one statement each takes: on PostgreSQL all together.
func parts[T any](tx *Tx, list []T) iter.Seq[[]T] {
	if tx.postgres {
		return slices.Chunk(list, max(len(list), 1))
	}
	return slices.Chunk(list, atOnce)
}

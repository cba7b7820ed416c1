package store

import (
	"strconv"
	"strings"
)

// value is one column of a row that is written, with what goes into it.
type value struct {
	column string
	is     any
}

// values are what is written of one row, column by column.
type values []value

// expression is a value that the database works out; its placeholders are those of the statement.
type expression string

// insertInto returns the statement that adds a row to a table, and its arguments, numbered in the order of the columns.
func (v values) insertInto(table string) (query string, args []any) {
	args = make([]any, 0, len(v))
	var b strings.Builder
	b.Grow(v.sizeHint() + len(table) + len("INSERT INTO () VALUES ()"))
	v.writeInto(&b, table)
	b.WriteString("VALUES ")
	for i, value := range v {
		if b.WriteByte("(,"[min(i, 1)]); i > 0 {
			b.WriteByte(' ')
		}
		args = value.write(&b, args)
	}
	b.WriteByte(')')
	return b.String(), args
}

// update returns the statement that sets columns of a table's rows, and its arguments: first those of the condition,
// as it numbers them.
func (v values) update(table, where string, of ...any) (query string, args []any) {
	args = append(make([]any, 0, len(of)+len(v)), of...)
	var b strings.Builder
	b.Grow(v.sizeHint() + len(table) + len("UPDATE  SET  ") + len(where))
	b.WriteString("UPDATE ")
	b.WriteString(table)
	b.WriteString(" SET ")
	for i, value := range v {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(value.column)
		b.WriteString(" = ")
		args = value.write(&b, args)
	}
	b.WriteByte(' ')
	b.WriteString(where)
	return b.String(), args
}

// writeInto writes how a statement begins that adds rows to a table.
func (v values) writeInto(b *strings.Builder, table string) {
	b.WriteString("INSERT INTO ")
	b.WriteString(table)
	for i, value := range v {
		if b.WriteByte("(,"[min(i, 1)]); i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(value.column)
	}
	b.WriteString(") ")
}

// sizeHint is at least how long the columns and their values are in a statement.
func (v values) sizeHint() (n int) {
	for _, value := range v {
		n += len(value.column) + len(" = $000, , ")
		if text, is := value.is.(expression); is {
			n += len(text)
		}
	}
	return n
}

// write writes an expression as it is, and a placeholder for any other value, which becomes the next argument.
func (v value) write(b *strings.Builder, args []any) []any {
	if text, is := v.is.(expression); is {
		b.WriteString(string(text))
		return args
	}
	b.WriteByte('$')
	b.WriteString(strconv.Itoa(len(args) + 1))
	return append(args, v.is)
}

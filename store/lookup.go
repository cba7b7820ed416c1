package store

import (
	"fmt"
	"strings"
)

// On PostgreSQL a statement is planned once for each connection, often while its tables are small. What is looked up by
// the columns that name it is therefore written such that there is only one way to do it, by the index: a plan that
// reads a small table as a whole would still do so when the table has grown, until PostgreSQL next analyses it.

// sought returns a source of rows for FROM and a condition for WHERE that match the rows of a table by a unique key
// against a list of key tuples. The tuples are distinct, and flattened in lists; args are the arguments of the
// statement before them.
func sought(tx *Tx, table, alias string, columns []string, lists []any, args ...any) (source, condition string, _ []any,
	err error) {
	if !tx.postgres {
		condition, args, err = within(tx, "("+alias+"."+strings.Join(columns, ", "+alias+".")+")", len(columns), lists,
			args...)
		return table + " " + alias, condition, args, err
	}
	keys, arrays, err := rowsOfArrays(lists, len(columns), len(args))
	if err != nil {
		return "", "", nil, fmt.Errorf("look up %s: %w", table, err)
	}
	names, equal := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		names[i] = fmt.Sprintf("k%d", i+1)
		equal[i] = column + " = asked." + names[i]
	}
	source = keys + " AS asked(" + strings.Join(names, ", ") + ")" +
		each(" CROSS JOIN", table, alias, strings.Join(equal, " AND ")+" LIMIT 1")
	return source, "TRUE", append(args, arrays...), nil
}

// each returns a join with the rows of a table that belong to the row before it. PostgreSQL looks them up row by row:
// a part with LIMIT or ORDER BY is not merged with what surrounds it.
func each(join, table, alias, where string) string {
	return join + " LATERAL (SELECT * FROM " + table + " WHERE " + where + ") AS " + alias
}

// joined is each for a LEFT JOIN, which on SQLite, where rows are always looked up one by one, is an ordinary one.
func (tx *Tx) joined(table, alias, column, equals, limit string) string {
	if !tx.postgres {
		return " LEFT JOIN " + table + " " + alias + " ON " + alias + "." + column + " = " + equals
	}
	return each(" LEFT JOIN", table, alias, column+" = "+equals+limit) + " ON TRUE"
}

// byItself ends a query within EXISTS: PostgreSQL asks it for each row then, by its index, and does not make it a join.
const byItself = ` LIMIT 1 OFFSET 0`

// rowsOfArrays returns what makes rows of lists of values, and an array for each column. PostgreSQL does not learn how
// long the arrays are before it plans, or it would plan again each time for how many there happen to be, which takes
// longer than to look up a few rows (PostgreSQL 15, PREPARE, Notes).
func rowsOfArrays(lists []any, width, offset int) (source string, arrays []any, err error) {
	arrays, elements, err := arraysOf(lists, width)
	if err != nil {
		return "", nil, err
	}
	parts := make([]string, width)
	for c, element := range elements {
		parts[c] = unknownArray(offset+c+1, element)
	}
	return "unnest(" + strings.Join(parts, ", ") + ")", arrays, nil
}

// unknownArray is the placeholder of an array whose length is not known before the statement runs.
func unknownArray(n int, element string) string { return fmt.Sprintf("(SELECT $%d::%s[])", n, element) }

package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// keptPrefix begins the names of the tables in which Keep puts rows aside.
const keptPrefix = "kept_"

// Keep puts aside what a database in memory holds, so that Rewind can bring it back.
func (db *DB) Keep(ctx context.Context) error {
	tables, err := db.tables(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := db.write.ExecContext(ctx, `CREATE TABLE `+keptPrefix+table+` AS SELECT * FROM `+table); err != nil {
			return fmt.Errorf("keep table %s: %w", table, err)
		}
	}
	return nil
}

// Rewind makes a database in memory hold what it did when Keep was called. Its statements stay prepared: to open
// another one and to prepare all of them takes longer than a simulation's whole history.
func (db *DB) Rewind(ctx context.Context) error {
	tables, err := db.tables(ctx)
	if err != nil {
		return err
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("rewind: %w", err)
	}
	defer tx.Rollback()
	for i := len(tables) - 1; i >= 0; i-- { // what refers to another table is made after it
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+tables[i]); err != nil {
			return fmt.Errorf("rewind table %s: %w", tables[i], err)
		}
	}
	for _, table := range tables {
		if _, err := tx.ExecContext(ctx, `INSERT INTO `+table+` SELECT * FROM `+keptPrefix+table); err != nil {
			return fmt.Errorf("rewind table %s: %w", table, err)
		}
	}
	return tx.Commit()
}

// tables returns the tables in the order in which they were made.
func (db *DB) tables(ctx context.Context) (names []string, err error) {
	var text sql.NullString
	err = db.write.QueryRowContext(ctx, `SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'kept\_%' ESCAPE '\'
		ORDER BY rowid)`).Scan(&text)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return strings.Fields(text.String), nil
}

// Overwrite makes a database in memory hold what an image of one with the same schema holds, row by row: anyone who
// uses it goes on with that, and its statements stay prepared.
func (db *DB) Overwrite(ctx context.Context, image []byte) error {
	from, err := OpenMemory(ctx, image, Config{})
	if err != nil {
		return err
	}
	defer from.Close()
	tables, err := db.tables(ctx)
	if err != nil {
		return err
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("overwrite: %w", err)
	}
	defer tx.Rollback()
	for i := len(tables) - 1; i >= 0; i-- { // what refers to another table is made after it
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+tables[i]); err != nil {
			return fmt.Errorf("empty table %s: %w", tables[i], err)
		}
	}
	for _, table := range tables {
		if err := copyTable(ctx, from.write, tx, table); err != nil {
			return fmt.Errorf("copy table %s: %w", table, err)
		}
	}
	return tx.Commit()
}

// copyTable copies a table's rows with their numbers.
func copyTable(ctx context.Context, from *sql.DB, to *sql.Tx, table string) error {
	rows, err := from.QueryContext(ctx, `SELECT rowid AS rowid_, * FROM `+table)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	columns[0] = "rowid"
	insert := `INSERT INTO ` + table + `(` + strings.Join(columns, ", ") + `) VALUES ` + tuples(1, len(columns), 0)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			if text, is := v.([]byte); is && len(text) == 0 {
				values[i] = []byte{} // bytes that are none, and not nothing
			}
		}
		if _, err := to.ExecContext(ctx, insert, values...); err != nil {
			return err
		}
	}
	return rows.Err()
}

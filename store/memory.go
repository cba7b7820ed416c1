package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	sqlite "modernc.org/sqlite"
)

// OpenMemory opens a database in memory that is gone once it is closed: for simulations and tests. It has one
// connection, so that a transaction inside another one never begins. image is a database as Image returned it; none:
// an empty one, which is brought up to date. cfg's URL is not used.
func OpenMemory(ctx context.Context, image []byte, cfg Config) (*DB, error) {
	connector, err := sqlite.NewConnector(
		"file::memory:?_pragma=foreign_keys(1)&_pragma=synchronous(OFF)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open a database in memory: %w", err)
	}
	pool := sql.OpenDB(cachedConnector{Connector: connector, image: image, quiet: true})
	pool.SetMaxOpenConns(1)
	pool.SetMaxIdleConns(1)
	db := &DB{write: pool, read: pool, now: cfg.Now, hooks: cfg.Hooks.withDefaults()}
	if db.now == nil {
		db.now = time.Now
	}
	if len(image) > 0 {
		return db, nil
	}
	if err := db.migrate(ctx, ""); err != nil {
		db.Close()
		return nil, fmt.Errorf("migrate the database: %w", err)
	}
	return db, nil
}

// Image returns all that an SQLite database holds, in the form of a database file. In memory it is consistent as of
// now.
func (db *DB) Image(ctx context.Context) (image []byte, err error) {
	if db.postgres {
		return nil, errors.New("only SQLite has an image")
	}
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the database's image: %w", err)
	}
	defer conn.Close()
	err = conn.Raw(func(raw any) error {
		able, can := raw.(imaged)
		if !can {
			return errors.New("the driver gives no image")
		}
		image, err = able.Serialize()
		return err
	})
	return image, err
}

// EachRow calls f with every row of an SQLite database, table by table, without SQLite's own tables and those that
// Keep copies. values are f's own. For simulations and tests: another transaction may come between two tables.
func (db *DB) EachRow(ctx context.Context, f func(table string, values []any)) error {
	if db.postgres {
		return errors.New("only the rows of SQLite are read one by one")
	}
	tables, err := db.tables(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := db.rowsOf(ctx, table, f); err != nil {
			return fmt.Errorf("read the rows of %s: %w", table, err)
		}
	}
	return nil
}

func (db *DB) rowsOf(ctx context.Context, table string, f func(table string, values []any)) error {
	rows, err := db.write.QueryContext(ctx, `SELECT * FROM `+table)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		f(table, values)
	}
	return rows.Err()
}

package store

import (
	"context"
	"fmt"
	"time"
)

// Facts are what an operator wants to know of a database.
type Facts struct {
	Software string    // such as "PostgreSQL 15.8"
	Size     int64     // bytes
	Clock    time.Time // of the database's own machine; zero where it is this one
	File     string    // of SQLite
}

// Facts asks the database what it is.
func (db *DB) Facts(ctx context.Context) (f Facts, err error) {
	if db.postgres {
		f.Software = "PostgreSQL "
		var version string
		var seconds float64
		err = db.read.QueryRowContext(ctx, `SELECT current_setting('server_version'), pg_database_size(current_database()),
			EXTRACT(EPOCH FROM clock_timestamp())::float8`).
			Scan(&version, &f.Size, &seconds)
		f.Software, f.Clock = f.Software+version, time.UnixMicro(int64(seconds*1e6)).UTC()
		return f, named("ask what the database is", err)
	}
	var version string
	err = db.read.QueryRowContext(ctx, `SELECT sqlite_version(), page_count * page_size, file
		FROM pragma_page_count(), pragma_page_size(), pragma_database_list() WHERE name = 'main'`).
		Scan(&version, &f.Size, &f.File)
	f.Software = "SQLite " + version
	return f, named("ask what the database is", err)
}

func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

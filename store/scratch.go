package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CreateScratch makes an empty PostgreSQL database of a name beside the one of a URL, and returns the name. It takes
// a role that may create databases.
func CreateScratch(ctx context.Context, databaseURL, name string) (string, error) {
	return name, onServer(ctx, databaseURL, "make a database to check in",
		"CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0")
}

// DropScratch removes what CreateScratch made.
func DropScratch(ctx context.Context, databaseURL, name string) error {
	return onServer(ctx, databaseURL, "drop the database that was checked in", "DROP DATABASE IF EXISTS "+
		pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

// onServer runs a statement that stands outside of transactions.
func onServer(ctx context.Context, databaseURL, what, statement string) error {
	db, err := OpenAsIs(databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.write.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

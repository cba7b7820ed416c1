package main

import "context"

type migrateCommand struct {
	acting
}

// Help returns an example.
func (migrateCommand) Help() string {
	return "Every other command migrates the database too; this command does nothing else.\n\nExample:\n\n  " +
		"  bursar migrate --config /etc/bursar.yaml"
}

// Run migrates the database.
func (migrateCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	kind := "SQLite"
	if db.Postgres() {
		kind = "PostgreSQL"
	}
	if err := db.Close(); err != nil {
		return err
	}
	return c.Say("the %s database is up to date", kind)
}

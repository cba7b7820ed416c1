package main

import "context"

type migrateCommand struct{}

// Help returns an example.
func (migrateCommand) Help() string {
	return "Every other command does so as well; this one is for those who want to see it done first.\n\nExample:\n\n  " +
		"  bursar migrate --config /etc/bursar.yaml"
}

// Run brings the database up to date.
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
	return c.say("the %s database is up to date", kind)
}

package main

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/store"
)

type databaseCommands struct {
	Grant databaseGrantCommand `cmd:"" help:"Give a role of PostgreSQL what the service needs, and nothing else."`
}

type databaseGrantCommand struct {
	Role    string `arg:"" placeholder:"ROLE" help:"Role that exists, which the service or a report connects as."`
	Reports bool   `help:"Let the role only read, and neither keys nor settings."`
	Print   bool   `help:"Print the statements and change nothing."`
	acting
}

// Help returns an example.
func (databaseGrantCommand) Help() string {
	return "Run it as the role that owns the tables: the service's role can then add to the books but change or remove " +
		"nothing in them, and cannot change the schema. Migrations and archives take the owner too. A migration gives the " +
		"role its rights to what it adds.\n\nExample:\n\n    BURSAR_DATABASE='postgres://owner@db.example/bursar' bursar " +
		"database grant bursar_service"
}

// Run grants the rights, or prints them.
func (cmd *databaseGrantCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	role := store.Role{Name: cmd.Role, Reports: cmd.Reports}
	if cmd.Print {
		return printGrants(ctx, c, db, role)
	}
	if err := db.Grant(ctx, role); err != nil {
		return err
	}
	return c.Say("%s has the rights of the %s, and no others", cmd.Role, cmd.kind())
}

func (cmd *databaseGrantCommand) kind() string {
	if cmd.Reports {
		return "reports"
	}
	return "service"
}

func printGrants(ctx context.Context, c *call, db *store.DB, role store.Role) error {
	statements, err := db.Grants(ctx, role)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := fmt.Fprintln(c.Stdout, s+";"); err != nil {
			return err
		}
	}
	return nil
}

// databaseRole records whether the role that the service connects as can change what was booked.
func (e *healthCheck) databaseRole(ctx context.Context, db *store.DB) error {
	unbound, err := db.Unbound(ctx)
	if err == nil && unbound && e.cfg.Network == config.Mainnet {
		e.advise("database's role", resultWarning,
			"create a role for the service, and run `bursar database grant` as the owner; see docs/operations/database.md",
			"the service connects as the owner of the tables: anyone who takes it over can change the books")
	}
	return err
}

package main

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// The owner gives a role its rights by one command; with them the service's commands work, and the books stay.
func TestARoleIsGivenTheServicesRights(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	url := storetest.Postgres(t)
	role := storetest.Ask(t, url, `SELECT current_database() || '_role'`)
	storetest.Administer(t, "CREATE ROLE "+role+" LOGIN")
	owner := newHarness(t, "database: "+url)
	printed := owner.ok("database", "grant", role, "--print")
	for _, want := range []string{
		`GRANT SELECT, INSERT ON "public"."postings" TO "` + role + `";`,
		`GRANT SELECT ON "public"."goose_db_version" TO "` + role + `";`,
	} {
		if !strings.Contains(printed, want+"\n") {
			t.Errorf("printed is\n%s\nwant a line %s", printed, want)
		}
	}
	service := newSeededHarness(t, "database: "+storetest.AsRole(url, role))
	service.fails(exitFailed, "may neither make nor read the tables", "account", "list")
	want := role + " has the rights of the service, and no others\n"
	if got := owner.ok("database", "grant", role); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	service.ok("account", "create", "--name", "shop")
	if list := service.ok("account", "list"); !strings.Contains(list, "shop") {
		t.Errorf("the accounts are\n%s\nwant the shop", list)
	}
	service.fails(exitFailed, "only the role that owns the tables gives rights", "database", "grant", role)
	owner.fails(exitFailed, "rights do not bind this role", "database", "grant", "bursar")
	owner.fails(exitFailed, "CREATE ROLE", "database", "grant", "nobody")
	want = role + " has the rights of the reports, and no others\n"
	if got := owner.ok("database", "grant", role, "--reports"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	service.fails(exitFailed, "permission denied", "account", "create", "--name", "other")
}

func TestSQLiteHasNoRoles(t *testing.T) {
	t.Parallel()
	newSeededHarness(t).fails(exitFailed, "SQLite has no roles", "database", "grant", "service")
}

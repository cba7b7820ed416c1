package main

import (
	"os"
	"regexp"
	"slices"
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

// What docs/operations/database.md has an administrator type is what makes a database with the two roles: its SQL and
// its commands, with other names, so that the servers of tests may be shared.
func TestTheDocumentedRolesOfADatabase(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	text, err := os.ReadFile("../../docs/operations/database.md")
	if err != nil {
		t.Fatal(err)
	}
	empty := storetest.EmptyPostgres(t)
	name := storetest.Ask(t, empty, `SELECT current_database() || '_documented'`)
	owner, role := name+"_owner", name+"_service"
	here := strings.NewReplacer("bursar_owner", owner, "bursar_service", role, "bursar_books", name)
	sql := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(text)
	if sql == nil {
		t.Fatal("the page has no SQL, want some")
	}
	t.Cleanup(func() {
		for _, statement := range []string{"DROP DATABASE " + name, "DROP ROLE " + owner, "DROP ROLE " + role} {
			storetest.Administer(t, statement)
		}
	})
	for statement := range strings.SplitSeq(strings.TrimSpace(here.Replace(string(sql[1]))), ";\n") {
		storetest.Administer(t, statement)
	}
	of := func(role string) string {
		database := storetest.Ask(t, empty, `SELECT current_database()`)
		return storetest.AsRole(strings.Replace(empty, "/"+database, "/"+name, 1), role)
	}
	ran := 0
	d := newHarness(t, "database: "+of(role))
	d.sealSeed()
	d.fails(exitFailed, "may neither make nor read the tables", "account", "list")
	plain := d.env
	for _, line := range typedIn(t, "../../docs/operations/database.md") {
		switch words := strings.Fields(here.Replace(line)); words[0] {
		case "export":
			d.env = append(slices.Clone(plain), "BURSAR_DATABASE="+of(owner))
		case "unset":
			d.env = plain
		case "bursar":
			d.ok(words[1:]...)
			ran++
		}
	}
	if ran != 2 {
		t.Errorf("%d commands of the page were run, want 2", ran)
	}
	d.ok("account", "create", "--name", "shop")
	if list := d.ok("account", "list"); !strings.Contains(list, "shop") {
		t.Errorf("with the service's role the accounts are\n%s\nwant the shop", list)
	}
}

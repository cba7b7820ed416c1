package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// server runs statements as the user that a URL names.
func server(t testing.TB, databaseURL string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// grantedPostgres is a database with a role that has its rights; it returns the owner's and the role's URL.
func grantedPostgres(t testing.TB, reports bool) (owner, role string) {
	t.Helper()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	owner = storetest.Postgres(t)
	name := storetest.Ask(t, owner, `SELECT current_database() || '_role'`)
	run(t, server(t, owner), `CREATE ROLE `+name+` LOGIN`)
	db := storetest.Open(t, owner)
	if err := db.Grant(ctx, store.Role{Name: name, Reports: reports}); err != nil {
		t.Fatal(err)
	}
	return owner, storetest.AsRole(owner, name)
}

// Every table has a line that says what the service may do with it, and every column of those lines is there.
func TestEveryTableHasRights(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	url := storetest.Postgres(t)
	all := storetest.Ask(t, url, `SELECT string_agg(tablename, ' ' ORDER BY tablename COLLATE "C") FROM pg_tables
		WHERE schemaname = current_schema()`)
	if listed := strings.Join(store.TablesWithRights(), " "); all != listed {
		t.Errorf("rights are listed for\n%s, want\n%s", listed, all)
	}
	_, err := storetest.Open(t, url).Grants(ctx, store.Role{Name: "x"})
	if err != nil {
		t.Error(err)
	}
}

// The service's role cannot change what was booked, nor what a withdrawal pays to whom.
func TestTheServicesRoleChangesNoBooks(t *testing.T) {
	t.Parallel()
	owner, role := grantedPostgres(t, false)
	service := server(t, role)
	tests := map[string]string{
		"a posting's amount":           `UPDATE postings SET amount = '1'`,
		"a posting":                    `DELETE FROM postings`,
		"all postings":                 `TRUNCATE postings CASCADE`,
		"an entry":                     `UPDATE entries SET ref = 'x'`,
		"a seal":                       `DELETE FROM seals`,
		"a link":                       `UPDATE links SET hash = ''`,
		"a link, removed":              `DELETE FROM links`,
		"a checkpoint":                 `INSERT INTO checkpoints SELECT * FROM checkpoints`,
		"a withdrawal's amount":        `UPDATE withdrawals SET amount = '1'`,
		"a withdrawal's address":       `UPDATE withdrawals SET base = 'x'`,
		"a withdrawal, removed":        `DELETE FROM withdrawals`,
		"a deposit's transaction":      `UPDATE deposits SET tx_id = 'x'`,
		"a deposit, removed":           `DELETE FROM deposits`,
		"a wallet's address":           `UPDATE wallets SET base = 'x'`,
		"a wallet's account":           `UPDATE wallets SET account_id = ''`,
		"a key's account":              `UPDATE api_keys SET account_id = ''`,
		"a key's secret":               `UPDATE api_keys SET secret_hash = ''`,
		"an operator's order":          `UPDATE treasury_orders SET actor = 'x'`,
		"the record of halts":          `DELETE FROM halt_events`,
		"the schema":                   `ALTER TABLE postings ADD COLUMN x BIGINT`,
		"a trigger":                    `CREATE TRIGGER x BEFORE INSERT ON postings EXECUTE FUNCTION pg_notify('x')`,
		"the version of the schema":    `UPDATE goose_db_version SET version_id = 1`,
		"the role, into the owner's":   `SET ROLE bursar`,
		"files of the server":          `COPY settings TO '/tmp/settings'`,
		"programs of the server":       `COPY settings FROM PROGRAM 'true'`,
		"another database's existence": `CREATE DATABASE x`,
	}
	for what, statement := range tests {
		_, err := service.Exec(statement)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("%s: %s gave %v, want insufficient_privilege", what, statement, err)
		}
	}
	run(t, service, `GRANT ALL ON postings TO PUBLIC`) // the server warns, and gives nothing (PostgreSQL 15, GRANT)
	everybody := storetest.Ask(t, owner, `SELECT has_table_privilege('public', 'postings', 'SELECT')::text`)
	if everybody != "false" {
		t.Error("the service's role gave its rights to everybody, want them kept")
	}
	if unbound, err := storetest.Open(t, role).Unbound(ctx); err != nil || unbound {
		t.Errorf("the service's role is unbound: %v, %v; want false", unbound, err)
	}
	if unbound, err := storetest.Open(t, owner).Unbound(ctx); err != nil || !unbound {
		t.Errorf("the owner is unbound: %v, %v; want true", unbound, err)
	}
}

// A role for reports reads the books, no hash of a key, and writes nothing.
func TestARoleForReportsOnlyReads(t *testing.T) {
	t.Parallel()
	_, role := grantedPostgres(t, true)
	reports := server(t, role)
	for _, table := range []string{"postings", "withdrawals", "deposits", "balances"} {
		run(t, reports, `SELECT * FROM `+table)
	}
	for _, statement := range []string{
		`SELECT * FROM api_keys`,
		`SELECT * FROM idempotency`,
		`SELECT * FROM settings`,
		`INSERT INTO counters(name, next) VALUES ('x', 1)`,
		`UPDATE balances SET debits = '1'`,
		`SELECT nextval('entries_number_seq')`,
	} {
		_, err := reports.Exec(statement)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("%s gave %v, want insufficient_privilege", statement, err)
		}
	}
}

// A program that is newer than the schema says what to do where its role may not migrate, and changes nothing; after a
// migration by the owner the role has its rights to what was added.
func TestTheOwnerMigratesForTheServicesRole(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	owner := storetest.EmptyPostgres(t)
	name := storetest.Ask(t, owner, `SELECT current_database() || '_role'`)
	run(t, server(t, owner), `CREATE ROLE `+name+` LOGIN`)
	role := storetest.AsRole(owner, name)
	const before = 29 // the next one makes the table approvals
	if err := store.MigrateTo(ctx, owner, before); err != nil {
		t.Fatal(err)
	}
	if err := store.GrantAsIs(ctx, owner, store.Role{Name: name}); err != nil {
		t.Fatal(err)
	}
	if db, err := store.Open(ctx, store.Config{URL: role}); !errors.Is(err, store.ErrSchemaBehind) {
		t.Errorf("opened %v, %v; want ErrSchemaBehind", db, err)
	}
	if at := storetest.Ask(t, owner, `SELECT max(version_id)::text FROM goose_db_version`); at != fmt.Sprint(before) {
		t.Errorf("the schema is at %s, want %d", at, before)
	}
	for _, url := range []string{owner, role} {
		db, err := store.Open(ctx, store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	run(t, server(t, role), `INSERT INTO approvals SELECT * FROM approvals`)
}

// Rights that would bind nobody are refused, and a role that is not there is named.
func TestRightsAreGivenToThoseThatTheyBind(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	url := storetest.Postgres(t)
	db := storetest.Open(t, url)
	if err := db.Grant(ctx, store.Role{Name: "bursar"}); !errors.Is(err, store.ErrRoleUnbound) {
		t.Errorf("rights of the owner: %v, want ErrRoleUnbound", err)
	}
	name := storetest.Ask(t, url, `SELECT current_database() || '_member'`)
	run(t, server(t, url), fmt.Sprintf(`CREATE ROLE %[1]s LOGIN; GRANT bursar TO %[1]s`, name))
	if err := db.Grant(ctx, store.Role{Name: name}); !errors.Is(err, store.ErrRoleUnbound) {
		t.Errorf("rights of a member of the owner's role: %v, want ErrRoleUnbound", err)
	}
	if err := db.Grant(ctx, store.Role{Name: "nobody's"}); err == nil || !strings.Contains(err.Error(), "CREATE ROLE") {
		t.Errorf("rights of nobody: %v, want how a role is made", err)
	}
	file := storetest.Open(t, storetest.SQLite(t))
	if err := file.Grant(ctx, store.Role{Name: "x"}); !errors.Is(err, store.ErrNoRoles) {
		t.Errorf("rights on SQLite: %v, want ErrNoRoles", err)
	}
}

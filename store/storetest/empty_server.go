package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bursar/bursar/store"
)

// newOnServer makes a database at the server with the connection that will empty it. Its URL is for the service's role,
// so that every test proves that the service's rights suffice for what it does; that connection is the owner's.
func newOnServer(testing.TB) (u *reusable, err error) {
	name, err := migratedOnServer()
	if err != nil {
		return nil, err
	}
	owner := databaseURL(server.dir, name)
	u = &reusable{url: AsRole(owner, serviceRole), spare: &store.Spare{}, drop: func() {}, empty: emptyOnServer}
	u.raw, err = sql.Open("pgx", owner)
	if err == nil {
		u.raw.SetMaxOpenConns(1)
	}
	return u, err
}

// definitions counts what a test may have added to the schema or taken from it, and what it has set for the database.
const definitions = `SELECT (SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace) || ' ' ||
	(SELECT COUNT(*) FROM pg_attribute) || ' ' || (SELECT COUNT(*) FROM pg_trigger) || ' ' ||
	(SELECT COUNT(*) FROM pg_proc) || ' ' || (SELECT COUNT(*) FROM pg_constraint) || ' ' ||
	(SELECT COUNT(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
		WHERE d.datname = current_database())`

// outsiders ends the connections of a test that are still open, which must not disturb the next one.
const outsiders = `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL ($1::bigint[])`

// emptyOnServer gives a database the content of the migrated one: it deletes all rows, inserts those that migrations
// write, and restarts every sequence. Foreign keys are not checked in between.
func emptyOnServer(u *reusable) error {
	first, err := migratedContent()
	if err != nil {
		return err
	}
	var now, filled string
	var ended int
	if err := u.raw.QueryRow(definitions).Scan(&now); err != nil {
		return err
	}
	if now != first.definitions {
		return errChanged
	}
	known := []int64{}
	for _, id := range u.spare.Backends() {
		known = append(known, int64(id))
	}
	if err := u.raw.QueryRow(outsiders, known).Scan(&ended); err != nil {
		return err
	}
	if err := u.raw.QueryRow(first.filled).Scan(&filled); err != nil {
		return err
	}
	text := "BEGIN; SET LOCAL session_replication_role = replica;"
	for i, table := range first.tables {
		if filled[i] == '1' {
			text += "DELETE FROM " + table + ";"
		}
	}
	if err := inOne(u.raw, text+first.restart+first.inserts+"COMMIT"); err != nil {
		return fmt.Errorf("empty a database for the next test: %w", err)
	}
	return nil
}

// inOne sends several statements as one text, which the server does not prepare.
func inOne(db *sql.DB, text string) error {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(raw any) error {
		_, err := raw.(*stdlib.Conn).Conn().PgConn().Exec(context.Background(), text).ReadAll()
		return err
	})
}

// content is what a database holds before any test.
type content struct {
	definitions string
	tables      []string
	filled      string // a query that returns a digit for each table: 1 if it has rows
	restart     string // a statement for each sequence
	inserts     string // statements for the rows that migrations write
}

// migratedContent reads the content of a copy of the migrated database: nothing may be connected to that itself while
// it is copied.
var migratedContent = sync.OnceValues(func() (c content, err error) {
	const name = "content"
	if err := administer("CREATE DATABASE " + name + " TEMPLATE migrated"); err != nil {
		return c, err
	}
	db, err := sql.Open("pgx", databaseURL(server.dir, name))
	if err != nil {
		return c, err
	}
	defer db.Close()
	if err := db.QueryRow(definitions).Scan(&c.definitions); err != nil {
		return c, err
	}
	var tables string
	err = db.QueryRow(`SELECT string_agg(quote_ident(tablename), ' '),
		'SELECT ' || string_agg('EXISTS (SELECT 1 FROM ' || quote_ident(tablename) || ')::int::text', ' || ')
		FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version'`).Scan(&tables, &c.filled)
	if err != nil {
		return c, err
	}
	c.tables = strings.Fields(tables)
	if err := db.QueryRow(`SELECT COALESCE(string_agg(format('SELECT setval(%L, %s, false);', quote_ident(sequencename),
		start_value), ''), '') FROM pg_sequences
		WHERE schemaname = 'public' AND sequencename <> 'goose_db_version_id_seq'`).Scan(&c.restart); err != nil {
		return c, err
	}
	for _, table := range c.tables {
		var inserts sql.NullString
		if err := db.QueryRow(fmt.Sprintf(`SELECT string_agg(format(
			'INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::%[1]s, %%L);',
			to_jsonb(r)), ' ') FROM %[1]s r`, table)).Scan(&inserts); err != nil {
			return c, err
		}
		c.inserts += inserts.String
	}
	return c, nil
})

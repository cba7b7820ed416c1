package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// emptyDatabases are those that a test has used and that are empty again. Creating one costs the server about 0.2 s of
// CPU time, which is more than most tests need for all that they do in it.
var emptyDatabases struct {
	sync.Mutex
	urls []string
}

// reusedPostgres returns the URL of a database of today's schema that another test may have used before, and empties
// it when this one ends. A database whose test failed, or changed more than rows, is left to the server's end.
func reusedPostgres(t testing.TB) (url string) {
	t.Helper()
	if url = takeEmpty(); url == "" {
		url = Postgres(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := empty(url); err != nil {
			if !errors.Is(err, errChanged) {
				t.Error(err)
			}
			return
		}
		emptyDatabases.Lock()
		defer emptyDatabases.Unlock()
		emptyDatabases.urls = append(emptyDatabases.urls, url)
	})
	return url
}

func takeEmpty() (url string) {
	free := &emptyDatabases
	free.Lock()
	defer free.Unlock()
	if n := len(free.urls); n > 0 {
		url, free.urls = free.urls[n-1], free.urls[:n-1]
	}
	return url
}

var errChanged = errors.New("the test has changed more than rows")

// definitions counts what a test may have added to the schema or taken from it, and what it has set for the database.
const definitions = `SELECT (SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace) || ' ' ||
	(SELECT COUNT(*) FROM pg_attribute) || ' ' || (SELECT COUNT(*) FROM pg_trigger) || ' ' ||
	(SELECT COUNT(*) FROM pg_proc) || ' ' || (SELECT COUNT(*) FROM pg_constraint) || ' ' ||
	(SELECT COUNT(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
		WHERE d.datname = current_database())`

// emptied deletes all rows, inserts those that the migrations write, and restarts every sequence. Foreign keys are not
// checked in between. A connection that the test has left open must not disturb the next one.
const emptied = `DO $$ DECLARE name text; filled boolean; BEGIN
	PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid();
	SET LOCAL session_replication_role = replica;
	FOR name IN SELECT quote_ident(tablename) FROM pg_tables
		WHERE schemaname = 'public' AND tablename <> 'goose_db_version' LOOP
		EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || name || ')' INTO filled;
		IF filled THEN EXECUTE 'DELETE FROM ' || name; END IF;
	END LOOP;
	PERFORM setval(quote_ident(sequencename)::regclass, start_value, false) FROM pg_sequences
		WHERE schemaname = 'public' AND sequencename <> 'goose_db_version_id_seq' AND last_value IS NOT NULL;
	%s
END $$`

// empty gives a database the content of the migrated one.
func empty(url string) error {
	first, err := migratedContent()
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var now string
	if err := db.QueryRow(definitions).Scan(&now); err != nil {
		return err
	}
	if now != first.definitions {
		return errChanged
	}
	if _, err := db.Exec(fmt.Sprintf(emptied, first.inserts)); err != nil {
		return fmt.Errorf("empty a database for the next test: %w", err)
	}
	return nil
}

// content is what a database holds before any test.
type content struct {
	definitions string
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
	if err := db.QueryRow(`SELECT string_agg(tablename, ' ') FROM pg_tables
		WHERE schemaname = 'public' AND tablename <> 'goose_db_version'`).Scan(&tables); err != nil {
		return c, err
	}
	for _, table := range strings.Fields(tables) {
		var inserts sql.NullString
		if err := db.QueryRowContext(context.Background(), fmt.Sprintf(`SELECT string_agg(format(
			'INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::%[1]s, %%L);',
			to_jsonb(r)), ' ') FROM %[1]s r`, table)).Scan(&inserts); err != nil {
			return c, err
		}
		c.inserts += inserts.String
	}
	return c, nil
})

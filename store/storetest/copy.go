package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/bursar/bursar/store"
)

// Copy makes a copy of an open database of today's schema as it is now, and returns its URL. That backups hold what
// they must is tested in package backup, with the programs that make them: they take longer than most tests of what a
// restored database does.
func Copy(t testing.TB, db *store.DB) (url string) {
	t.Helper()
	from := URL(db)
	if db.Postgres() {
		url = servers.take(t)
		if err := copyOnServer(AsOwner(from), AsOwner(url)); err != nil {
			t.Fatal(err)
		}
		return sameRole(from, url)
	}
	url = EmptySQLite(t)
	raw, err := sql.Open("sqlite", strings.TrimPrefix(from, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(context.Background(), "VACUUM INTO ?", strings.TrimPrefix(url, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	return url
}

// sameRole returns the URL of a database for the role of another URL.
func sameRole(from, url string) string {
	if AsOwner(from) == from {
		return AsOwner(url)
	}
	return AsRole(url, serviceRole)
}

// copyOnServer replaces all rows and the state of all sequences of a database by those of another, read in one
// transaction as a dump would read them.
func copyOnServer(from, to string) error {
	first, err := migratedContent()
	if err != nil {
		return err
	}
	return onConnection(from, func(source *pgconn.PgConn) error {
		return onConnection(to, func(target *pgconn.PgConn) error {
			filled, err := one(source, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"+first.filled)
			if err != nil {
				return err
			}
			sequences, err := one(source, sequencesNow)
			if err != nil {
				return err
			}
			begin := "BEGIN; SET LOCAL session_replication_role = replica;"
			for _, table := range first.tables {
				begin += "DELETE FROM " + table + ";"
			}
			if _, err := target.Exec(context.Background(), begin+sequences).ReadAll(); err != nil {
				return err
			}
			for i, table := range first.tables {
				if filled[i] != '1' {
					continue
				}
				if err := copyTable(source, target, table); err != nil {
					return err
				}
			}
			_, err = target.Exec(context.Background(), "COMMIT").ReadAll()
			return err
		})
	})
}

// sequencesNow returns a statement for each sequence, which sets another one to the state of this.
const sequencesNow = `SELECT COALESCE(string_agg(format('SELECT setval(%L, %s, %L);', quote_ident(sequencename),
	COALESCE(last_value, start_value), last_value IS NOT NULL), ''), '') FROM pg_sequences
	WHERE schemaname = 'public' AND sequencename <> 'goose_db_version_id_seq'`

func copyTable(source, target *pgconn.PgConn, table string) error {
	var rows bytes.Buffer
	if _, err := source.CopyTo(context.Background(), &rows, "COPY "+table+" TO STDOUT"); err != nil {
		return err
	}
	_, err := target.CopyFrom(context.Background(), &rows, "COPY "+table+" FROM STDIN")
	return err
}

// onConnection calls work with a connection of its own to a database.
func onConnection(url string, work func(*pgconn.PgConn) error) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(raw any) error { return work(raw.(*stdlib.Conn).Conn().PgConn()) })
}

// one returns the text that the last of some statements returns.
func one(conn *pgconn.PgConn, statements string) (string, error) {
	results, err := conn.Exec(context.Background(), statements).ReadAll()
	if err != nil {
		return "", err
	}
	return string(results[len(results)-1].Rows[0][0]), nil
}

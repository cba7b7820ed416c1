package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bursar/bursar/store"
)

// SQLite returns the URL of a new database file of today's schema, which the test's end removes.
func SQLite(t testing.TB) string {
	t.Helper()
	return SQLiteIn(t, Folder(t))
}

// SQLiteIn is SQLite in a folder of the test's own, where the file is called bursar.db.
func SQLiteIn(t testing.TB, dir string) string {
	t.Helper()
	image, err := migratedFile()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "bursar.db")
	if err := os.WriteFile(file, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + file
}

// EmptySQLite returns the URL of a database file that is not there yet, in a folder that the test's end removes.
func EmptySQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(Folder(t), "bursar.db")
}

// Folder returns a folder that the test's end removes. It is in memory where the system has room for that: every
// commit is synced, which on a disk is a third of the work of a test with many small transactions. No test cuts the
// power, so none can notice the difference.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := folder(need)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// folder makes a folder in memory, or on a disk where the system has less room for it, in bytes.
func folder(need uint64) (string, error) {
	var free syscall.Statfs_t
	if err := syscall.Statfs(memory, &free); err != nil || free.Bavail*uint64(free.Bsize) < need {
		return os.MkdirTemp("", "bursar-test-")
	}
	return os.MkdirTemp(memory, "bursar-test-")
}

const (
	memory      = "/dev/shm" // where Linux has a file system in memory
	need        = 1 << 30    // bytes; all tests that run at a time need a tenth of it
	serversNeed = 4 << 30    // bytes; the servers of three packages need a quarter of it
)

// migratedFile is the content of a new database file. Each test gets a copy of it: to migrate for each takes longer
// than most of them do. Who starts many processes of one version's tests names a folder where they share it.
var migratedFile = sync.OnceValues(func() ([]byte, error) {
	shared := os.Getenv("BURSAR_TEST_IMAGES")
	if shared == "" {
		return migrateFile()
	}
	name := filepath.Join(shared, "migrated.db")
	if image, err := os.ReadFile(name); err == nil {
		return image, nil
	}
	image, err := migrateFile()
	if err != nil {
		return nil, err
	}
	own := filepath.Join(shared, fmt.Sprintf("migrated.%d", os.Getpid()))
	return image, errors.Join(os.WriteFile(own, image, 0o600), os.Rename(own, name)) // so that nobody reads half of it
})

func migrateFile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "bursar-sqlite-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "bursar.db")
	db, err := store.Open(context.Background(), store.Config{URL: "sqlite:" + file})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil { // moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(file)
}

// Postgres returns the URL of a new database of today's schema, which the test's end removes, on a server that this
// process starts once and that ends with it.
func Postgres(t testing.TB) string {
	t.Helper()
	return passing(t, migratedOnServer)
}

// ServicePostgres is Postgres for the service's role, whose rights do not go beyond what the service needs.
func ServicePostgres(t testing.TB) string { return AsRole(Postgres(t), serviceRole) }

// Administer runs a statement as the server's administrator: CREATE ROLE and the like.
func Administer(t testing.TB, statement string) {
	t.Helper()
	if err := running(); err != nil {
		t.Fatal(err)
	}
	if err := administer(statement); err != nil {
		t.Fatal(err)
	}
}

// EmptyPostgres returns the URL of a new database without a schema, on the same server.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	return passing(t, func() (string, error) { return createPostgres("") })
}

// Load runs the statements of a dump, as pg_dump writes them as INSERTs, in an empty database of PostgreSQL.
func Load(t testing.TB, url, dump string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // with what the dump sets for its connection
	if _, err := db.Exec(dump); err != nil {
		t.Fatalf("load a dump: %v", err)
	}
}

// passing returns a new database that is dropped when the test ends: each takes 8 MB of memory.
func passing(t testing.TB, create func() (name string, err error)) (url string) {
	t.Helper()
	name, err := create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := administer("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return databaseURL(server.dir, name)
}

// migratedOnServer makes a database of today's schema that stays as long as the server.
func migratedOnServer() (name string, err error) {
	if err := migratedPostgres(); err != nil {
		return "", err
	}
	return createPostgres(" TEMPLATE migrated")
}

// migratedPostgres makes the database that others are copies of. Nobody is connected to it while it is copied.
var migratedPostgres = sync.OnceValue(func() error {
	if err := running(); err != nil {
		return err
	}
	for _, statement := range []string{"CREATE DATABASE migrated", "CREATE ROLE " + serviceRole + " LOGIN"} {
		if err := administer(statement); err != nil {
			return err
		}
	}
	db, err := store.Open(context.Background(), store.Config{URL: databaseURL(server.dir, "migrated")})
	if err != nil {
		return err
	}
	return errors.Join(db.Grant(context.Background(), store.Role{Name: serviceRole}), db.Close())
})

// serviceRole is the role of the service in the databases that Each gives to tests; it has the rights of one, and no
// others.
const serviceRole = "service"

// AsRole returns the URL of a database on this process's server for another role; that of an SQLite file stays.
func AsRole(databaseURL, role string) string {
	_, rest, server := strings.Cut(databaseURL, "postgres://")
	if !server {
		return databaseURL
	}
	_, rest, _ = strings.Cut(rest, "@")
	return "postgres://" + role + "@" + rest
}

// AsOwner returns the URL of a database on this process's server for the role that owns it, for tests that change what
// the service may not.
func AsOwner(databaseURL string) string { return AsRole(databaseURL, "bursar") }

func createPostgres(from string) (name string, err error) {
	if err := running(); err != nil {
		return "", err
	}
	name = fmt.Sprintf("t%d", server.next.Add(1))
	return name, administer("CREATE DATABASE " + name + from)
}

func running() error {
	server.once.Do(func() { server.dir, server.stop, server.err = startServer() })
	return server.err
}

func administer(statement string) error {
	admin, err := sql.Open("pgx", databaseURL(server.dir, "postgres"))
	if err != nil {
		return err
	}
	defer admin.Close()
	_, err = admin.Exec(statement)
	return err
}

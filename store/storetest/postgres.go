// Package storetest opens fresh databases for tests, SQLite and PostgreSQL alike, and holds the suite that both pass.
// It starts its own PostgreSQL server in a temporary folder and never touches one that is there.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/test/pg"
)

// Each runs test once on a fresh SQLite file and, unless -short, once on an empty PostgreSQL database. OnPostgres
// leaves PostgreSQL to some of a package's tests.
func Each(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, Open(t, files.take(t)))
	})
	if top, _, _ := strings.Cut(t.Name(), "/"); onPostgres != nil && !onPostgres[top] {
		return
	}
	t.Run("postgres", func(t *testing.T) {
		if testing.Short() {
			t.Skip("PostgreSQL is left out by -short")
		}
		t.Parallel()
		test(t, Open(t, servers.take(t)))
	})
}

var onPostgres map[string]bool // by a test's name; nil: all

// OnPostgres names the tests of a package that Each runs on PostgreSQL as well. It is for a package whose tests differ
// in the rows that the same few hundred statements meet: that a statement does the same on both databases is proven by
// the tests that are named, by the suite of this package and by the simulation. With BURSAR_TEST_POSTGRES=all the other
// tests run on both as well. Call it from TestMain.
func OnPostgres(names ...string) {
	if os.Getenv("BURSAR_TEST_POSTGRES") == "all" {
		return
	}
	onPostgres = map[string]bool{}
	for _, name := range names {
		onPostgres[name] = true
	}
}

// Open opens a database and closes it when the test ends.
func Open(t testing.TB, url string) *store.DB {
	t.Helper()
	return OpenAt(t, url, nil)
}

// OpenAt is Open with a clock; nil: the system's.
func OpenAt(t testing.TB, url string, now func() time.Time) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), store.Config{URL: url, Now: now, Spare: spareOf(url)})
	if err != nil {
		t.Fatal(err)
	}
	urls.Store(db, url)
	t.Cleanup(func() {
		urls.Delete(db)
		db.Close()
	})
	return db
}

var urls sync.Map // of the databases that are open

// URL returns the URL of a database that Open opened, so that a test can be its second process; "" for any other.
func URL(db *store.DB) string {
	url, _ := urls.Load(db)
	text, _ := url.(string)
	return text
}

var server struct {
	once sync.Once
	stop func()
	dir  string
	err  error
	next atomic.Int64 // number of the database made last

	copies string // words of CREATE DATABASE
}

// Main runs a package's tests, stops the server that they started, and does what else is to be done after them. Call
// it from TestMain.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, do := range after {
		do()
	}
	files.end()
	servers.end()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

func databaseURL(dir, name string) string { return "postgres://bursar@/" + name + "?host=" + dir }

// startServer makes a cluster in a folder of its own and starts it there, listening on a socket only. PostgreSQL
// refuses to run as root, so root runs it as another user.
func startServer() (dir string, stop func(), err error) {
	bin, err := findServer()
	if err != nil {
		return "", nil, err
	}
	// In memory: on a disk a third of a server's work is to make and remove a database's 300 files.
	dir, err = folder(serversNeed)
	if err != nil {
		return "", nil, err
	}
	attr, err := pg.Unprivileged(dir)
	if err != nil {
		return "", nil, err
	}
	if err := newCluster(bin, dir, attr); err != nil {
		return "", nil, err
	}
	// Autovacuum would visit hundreds of databases that are used for a second each.
	// The shell ends the server when its own input closes: that is, when this process ends in whatever way.
	script := `"$1" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=200 \
		-c shared_buffers=128MB -c autovacuum=off -c full_page_writes=off -c checkpoint_timeout=1h \
		-c max_wal_size=128MB >"$2/log" 2>&1 & pid=$!
		cat >/dev/null; kill -INT $pid; wait $pid; rm -rf "$2/data" "$2/log"`
	command := exec.Command("/bin/sh", "-c", script, "sh", filepath.Join(bin, "postgres"), dir)
	command.SysProcAttr, command.Dir = attr, dir
	input, err := command.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, fmt.Errorf("start postgres: %w", err)
	}
	return dir, stopper(command, input, dir), waitReady(dir)
}

func stopper(command *exec.Cmd, input io.Closer, dir string) func() {
	return func() {
		input.Close()
		command.Wait()
		os.RemoveAll(dir)
	}
}

// findServer returns the folder of PostgreSQL's programs.
func findServer() (string, error) {
	bin, err := pg.Programs()
	if err != nil {
		return "", fmt.Errorf("%w, or leave such tests out with -short", err)
	}
	return bin, nil
}

func waitReady(dir string) error {
	db, err := sql.Open("pgx", databaseURL(dir, "postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for ticker := time.NewTicker(20 * time.Millisecond); ; {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return fmt.Errorf("postgres did not become ready: %w\n%s", err, log)
		case <-ticker.C:
		}
	}
}

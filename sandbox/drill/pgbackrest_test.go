package drill

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/patroni"
)

// kept is a server whose log pgBackRest archives, as docs/operations/backup.md sets it up.
type kept struct {
	*patroni.Server
	t *testing.T
}

func newKept(t *testing.T) kept {
	t.Helper()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	if _, err := exec.LookPath("pgbackrest"); err != nil {
		t.Fatal("this test needs pgBackRest: run go run ./test -install pgbackrest, or leave such tests out with -short")
	}
	s, err := patroni.NewServer(t.Context(), map[string]string{"archive_mode": "on", "archive_timeout": "60",
		"archive_command": "pgbackrest --config=DIR/pgbackrest.conf --stanza=bursar archive-push %p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	_, port, _ := cutLast(s.Address)
	text := fmt.Sprintf("[global]\nrepo1-path=%[1]s/repo\nrepo1-retention-full=2\nlog-path=%[1]s\nlock-path=%[1]s/lock\nspool-path=%[1]s/spool\nstart-fast=y\n"+
		"\n[bursar]\npg1-path=%[2]s\npg1-port=%[3]s\npg1-socket-path=%[1]s\npg1-user=bursar\n", s.Dir, s.Data, port)
	if err := os.WriteFile(filepath.Join(s.Dir, "pgbackrest.conf"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	k := kept{s, t}
	k.rest("stanza-create")
	return k
}

func cutLast(address string) (host, port string, ok bool) {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == ':' {
			return address[:i], address[i+1:], true
		}
	}
	return "", "", false
}

// rest runs pgBackRest.
func (k kept) rest(args ...string) {
	k.t.Helper()
	_, err := k.Run(k.t.Context(), "pgbackrest", append([]string{"--config=" + filepath.Join(k.Dir, "pgbackrest.conf"), "--stanza=bursar"}, args...)...)
	if err != nil {
		k.t.Fatal(err)
	}
}

// ask asks the server for a text.
func (k kept) ask(query string) (text string) {
	k.t.Helper()
	db, err := sql.Open("pgx", k.URL())
	if err != nil {
		k.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(k.t.Context(), query).Scan(&text); err != nil {
		k.t.Fatal(err)
	}
	return text
}

// lose removes the server's data as a broken disk does, and brings it back from the archive.
func (k kept) lose(restore ...string) {
	k.t.Helper()
	k.Kill()
	if err := os.RemoveAll(k.Data); err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.Run(k.t.Context(), "mkdir", "-m", "700", k.Data); err != nil {
		k.t.Fatal(err)
	}
	k.rest(append([]string{"restore"}, restore...)...)
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	if err := k.Start(ctx); err != nil {
		k.t.Fatal(err)
	}
}

// A server is lost under load and restored to a moment, then once more to the end of its archive.
func TestPgBackRestRestoresToAnyMoment(t *testing.T) {
	k := newKept(t)
	db := open(t, k.URL())
	w := write(t, db)
	w.more(100)
	k.rest("--type=full", "backup")
	before := w.more(100)
	moment := k.ask("SELECT clock_timestamp()::text")
	after := w.count() + 2 // and what the two writers have under way
	w.more(100)
	w.stop()
	all := whole(t, k.URL())
	k.ask("SELECT pg_switch_wal()::text")
	k.rest("check") // which waits until that is archived
	db.Close()

	k.lose("--type=time", "--target="+moment, "--target-action=promote")
	if n := whole(t, k.URL()); n < before || n > after {
		t.Errorf("restored to a moment are %d entries; %d were acknowledged before it, %d after", n, before, after)
	}
	k.lose("--target-timeline=current")
	if n := whole(t, k.URL()); n != all {
		t.Errorf("restored to the end of the archive are %d entries of %d", n, all)
	}
	id, err := open(t, k.URL()).Identity(t.Context())
	if err != nil || id.Timeline == "00000001" {
		t.Errorf("a restored server is not told from the lost one: %+v, %v", id, err)
	}
}

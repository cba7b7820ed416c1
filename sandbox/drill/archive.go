package drill

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/patroni"
)

// Archived is a PostgreSQL server whose log pgBackRest archives, set up by the runbook.
type Archived struct {
	*patroni.Server
	t    testing.TB
	book *Runbook
}

// NewArchived starts one with an empty database named bursar. It ends with the test.
func NewArchived(t testing.TB) *Archived {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL: left out by -short")
	}
	if _, err := exec.LookPath("pgbackrest"); err != nil {
		t.Fatal("this test needs pgBackRest: run go run ./test -install pgbackrest, or leave such tests out with -short")
	}
	s, err := patroni.NewServer(t.Context(), settings(OpenRunbook(t).File("archive_mode")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	a := &Archived{Server: s, t: t}
	a.book = OpenRunbook(t, "/mnt/elsewhere/pgbackrest", filepath.Join(s.Dir, "repo"),
		"/var/lib/postgresql/15/main", s.Data, archiver, a.archiver())
	// The directories of this test's server, which are not Debian's.
	own := strings.NewReplacer(
		"[global]\n", fmt.Sprintf("[global]\nlog-path=%[1]s\nlock-path=%[1]s/lock\nspool-path=%[1]s/spool\n", s.Dir),
		"[bursar]\n", fmt.Sprintf("[bursar]\npg1-port=%s\npg1-socket-path=%s\npg1-user=bursar\n", s.Port(), s.Dir))
	config := own.Replace(a.book.File("[global]"))
	if err := os.WriteFile(filepath.Join(s.Dir, "pgbackrest.conf"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	a.Rest("stanza-create")
	return a
}

// archiver is the runbook's pgBackRest command, with this test's configuration in place of the one in /etc.
const archiver = "pgbackrest "

func (a *Archived) archiver() string {
	return "pgbackrest --config=" + filepath.Join(a.Dir, "pgbackrest.conf") + " "
}

// settings parses lines of postgresql.conf.
func settings(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		m[name] = strings.ReplaceAll(strings.Trim(value, "'"), archiver, archiver+"--config=DIR/pgbackrest.conf ")
	}
	return m
}

// Rest runs the runbook's pgBackRest command with this beginning after the stanza's name.
func (a *Archived) Rest(begins string) {
	a.t.Helper()
	a.shell(a.book.Command("pgbackrest --stanza=bursar " + begins))
}

func (a *Archived) shell(line string) {
	a.t.Helper()
	began := time.Now()
	if _, err := a.Run(a.t.Context(), "/bin/sh", "-c", line); err != nil {
		a.t.Fatal(err)
	}
	a.t.Logf("%v: %s", time.Since(began).Round(time.Millisecond), line)
}

// Moment is the server's present time.
func (a *Archived) Moment() string {
	a.t.Helper()
	db, err := sql.Open("pgx", a.URL())
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	var text string
	if err := db.QueryRowContext(a.t.Context(), "SELECT clock_timestamp()::text").Scan(&text); err != nil {
		a.t.Fatal(err)
	}
	return text
}

// runbookMoment is the point in time that the runbook restores to.
const runbookMoment = "2026-01-31 12:00:00+00"

// LoseAndRestoreTo removes the server's data, like a broken disk, and restores it to a point in time.
func (a *Archived) LoseAndRestoreTo(moment string) {
	a.t.Helper()
	line := a.book.Command("pgbackrest --stanza=bursar restore")
	if !strings.Contains(line, runbookMoment) {
		a.t.Fatalf("the runbook does not restore to %s: %s", runbookMoment, line)
	}
	a.loseAnd(strings.Replace(line, runbookMoment, moment, 1))
}

// LoseAndRestoreToTheEnd is LoseAndRestoreTo with everything that was archived after the last full backup.
func (a *Archived) LoseAndRestoreToTheEnd() {
	a.t.Helper()
	line, _, timed := strings.Cut(a.book.Command("pgbackrest --stanza=bursar restore"), " --type")
	if !timed {
		a.t.Fatalf("the runbook restores to no point in time: %s", line)
	}
	a.loseAnd(line + " " + a.book.Command("--target-timeline"))
}

func (a *Archived) loseAnd(restore string) {
	a.t.Helper()
	a.Kill()
	if err := os.RemoveAll(a.Data); err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.Run(a.t.Context(), "mkdir", "-m", "700", a.Data); err != nil {
		a.t.Fatal(err)
	}
	a.shell(restore)
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	if err := a.Start(ctx); err != nil {
		a.t.Fatal(err)
	}
}

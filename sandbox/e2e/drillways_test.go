package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/sandbox/drill"
)

// line runs a line of the runbook as an operator does on the service's machine.
func (w *harness) line(line string) {
	w.t.Helper()
	command := exec.Command("/bin/sh", "-c", line)
	command.Dir = w.dir
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(w.programs.bursar)+":"+os.Getenv("PATH"),
		"BURSAR_PASSPHRASE_FILE="+filepath.Join(w.dir, "passphrase"))
	if out, err := command.CombinedOutput(); err != nil {
		w.must(fmt.Errorf("%s: %w\n%s", line, err, out))
	}
}

// breakFile loses the machine's database, like a broken disk; the seed and its marks are on another disk.
func (w *harness) breakFile() {
	w.t.Helper()
	w.server.kill()
	path := filepath.Join(w.dir, "bursar.db")
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.t.Fatal(err)
		}
	}
}

// fileWay is `bursar backup`.
type fileWay struct{ book *drill.Runbook }

func newFileWay(t testing.TB) way {
	return fileWay{drill.OpenRunbook(t, "/var/backups/bursar-20260131.db", filepath.Join(t.TempDir(), "backup.db"))}
}

func (fileWay) database() string { return "" }
func (fileWay) begin(*harness)   {}

func (f fileWay) copy(w *harness) {
	w.line(f.book.Command("bursar backup /var/backups/bursar-20260131.db"))
	w.line(f.book.Command("bursar backup --check /"))
}

func (fileWay) lose(w *harness) { w.breakFile() }
func (f fileWay) restore(w *harness) {
	w.line(f.book.Command("bursar restore /var/backups/bursar-20260131.db"))
}

// litestreamWay is litestream next to the service.
type litestreamWay struct{ replica *drill.Replica }

func newLitestreamWay(testing.TB) way { return &litestreamWay{} }

func (*litestreamWay) database() string { return "" }
func (l *litestreamWay) begin(w *harness) {
	l.replica = drill.NewReplica(w.t, filepath.Join(w.dir, "bursar.db"))
}

// copy waits until the replica has everything, and then disconnects it without anybody noticing.
func (l *litestreamWay) copy(w *harness) {
	w.eventually("the replica has the waiting withdrawals", func() error {
		file, err := l.replica.Restore()
		if err != nil {
			return err
		}
		var holds struct{ Withdrawals int }
		w.must(json.Unmarshal(w.run("backup", "--check", "--json", file), &holds))
		if holds.Withdrawals != len(w.requested) {
			return fmt.Errorf("it has %d of %d withdrawals", holds.Withdrawals, len(w.requested))
		}
		return nil
	})
	l.replica.Kill()
}

func (*litestreamWay) lose(w *harness) { w.breakFile() }

func (l *litestreamWay) restore(w *harness) {
	_, err := l.replica.Restore()
	w.must(err)
	w.line(l.replica.Book().Command("bursar restore /tmp/bursar.db"))
}

// archiveWay is pgBackRest with a restore to a point in time.
type archiveWay struct {
	server *drill.Archived
	moment string
}

func newArchiveWay(t testing.TB) way { return &archiveWay{server: drill.NewArchived(t)} }

func (a *archiveWay) database() string { return a.server.URL() }
func (a *archiveWay) begin(*harness)   { a.server.Rest("--type=full") }
func (a *archiveWay) copy(*harness)    { a.moment = a.server.Moment() }

// lose first archives what was written up to now: the restored point in time is before that.
func (a *archiveWay) lose(w *harness) {
	a.server.Rest("check")
	w.server.kill()
	a.server.Kill()
}

func (a *archiveWay) restore(*harness) { a.server.LoseAndRestoreTo(a.moment) }

package drill

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/test/pins"
)

// Replica is a litestream process next to a SQLite database, set up by the runbook, and its copy.
type Replica struct {
	t        testing.TB
	book     *Runbook
	program  string
	log      string
	restored string
	process  *exec.Cmd
	killed   bool
}

// NewReplica starts litestream on a database and waits until the replica holds a first copy: before that, litestream
// needs a write lock to set itself up, and busy writers can make it wait. It ends with the test.
func NewReplica(t testing.TB, path string) *Replica {
	t.Helper()
	machine, far := t.TempDir(), t.TempDir()
	r := &Replica{t: t, program: litestream(t), log: filepath.Join(machine, "litestream.log"),
		restored: filepath.Join(machine, "restored.db")}
	config := filepath.Join(machine, "litestream.yml")
	r.book = OpenRunbook(t, "/etc/litestream.yml", config, "/var/lib/bursar/bursar.db", path,
		"/mnt/elsewhere/bursar", filepath.Join(far, "bursar"), "/tmp/bursar.db", r.restored)
	if err := os.WriteFile(config, []byte(r.book.File("dbs:")), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r.process = r.command("exec " + r.book.Command("litestream replicate"))
	r.process.Stdout, r.process.Stderr = log, log
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	r.await(far)
	return r
}

// await waits until a file of the replica is complete: litestream renames a file to its name only then.
func (r *Replica) await(folder string) {
	r.t.Helper()
	late := time.After(2 * time.Minute)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if files, err := filepath.Glob(filepath.Join(folder, "bursar", "ltx", "*", "*.ltx")); err == nil && len(files) > 0 {
			return
		}
		select {
		case <-late:
			said, _ := os.ReadFile(r.log)
			r.t.Fatalf("litestream copied nothing in two minutes, want a first copy: %s", said)
		case <-ticker.C:
		}
	}
}

// command is a line of the runbook for a shell that finds litestream.
func (r *Replica) command(line string) *exec.Cmd {
	c := exec.Command("/bin/sh", "-c", line)
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(r.program)+":"+os.Getenv("PATH"))
	return c
}

// Kill kills litestream, as the loss of its machine does.
func (r *Replica) Kill() {
	if !r.killed {
		r.killed = true
		_, _ = r.process.Process.Kill(), r.process.Wait() // the exit code is that of a killed program
	}
}

// Restore restores what was copied so far, as the runbook says, and returns the file, which the next restore
// replaces.
func (r *Replica) Restore() (string, error) {
	if err := os.Remove(r.restored); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	out, err := r.command(r.book.Command("litestream restore")).CombinedOutput()
	if err != nil {
		said, _ := os.ReadFile(r.log)
		return "", errors.Join(err, errors.New(string(out)+string(said)))
	}
	return r.restored, nil
}

// Book is the runbook with the replica's files.
func (r *Replica) Book() *Runbook { return r.book }

// litestream is the program that `go run ./test -install` put into the cache directory, or the one that a variable
// names.
func litestream(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs litestream: left out by -short")
	}
	if program := os.Getenv("BURSAR_LITESTREAM"); program != "" {
		return program
	}
	cache, err := os.UserCacheDir()
	program := filepath.Join(cache, "bursar-nodes", "litestream-"+pins.Litestream, "litestream")
	if _, missing := os.Stat(program); errors.Join(err, missing) != nil {
		t.Fatal("this test needs litestream: run go run ./test -install litestream, or leave such tests out with -short")
	}
	return program
}

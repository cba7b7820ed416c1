package drill

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/backup"
	"github.com/bursar/bursar/store"
)

// loses is what docs/operations/backup.md promises of litestream: what was committed longer ago than this is in the replica.
const loses = 10 * time.Second

// The machine is lost with the database and litestream beside it, at any moment: the replica has all but the last seconds.
func TestLitestreamLosesNoMoreThanItsInterval(t *testing.T) {
	program := cached(t, "BURSAR_LITESTREAM", "litestream-0.5.18", "litestream")
	machine, far := t.TempDir(), t.TempDir()
	path := filepath.Join(machine, "bursar.db")
	db := open(t, "sqlite:"+path)
	config := filepath.Join(machine, "litestream.yml")
	text := fmt.Sprintf("dbs:\n  - path: %s\n    replica:\n      type: file\n      path: %s\n      sync-interval: 1s\n", path, filepath.Join(far, "bursar"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	replicating := exec.Command(program, "replicate", "-config", config)
	log, err := os.Create(filepath.Join(machine, "litestream.log"))
	if err != nil {
		t.Fatal(err)
	}
	replicating.Stdout, replicating.Stderr = log, log
	if err := replicating.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _, _ = replicating.Process.Kill(), replicating.Wait() }
	t.Cleanup(kill)
	w := write(t, db)
	before := w.more(100)
	<-time.After(loses) // with traffic, as the replica is promised to be behind by no more than this
	acked := w.count()
	kill()
	lost := time.Now()
	after := w.more(50) // what a dead litestream does not see
	w.stop()

	restored := filepath.Join(t.TempDir(), "bursar.db")
	if out, err := exec.Command(program, "restore", "-config", config, "-o", restored, path).CombinedOutput(); err != nil {
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("restore: %v\n%s\n%s", err, out, said)
	}
	c, err := backup.Check(t.Context(), "", restored, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Contents.Entries < before || c.Contents.Entries > after {
		t.Errorf("the replica has %d entries; %d were acknowledged %v before the end, %d at all", c.Contents.Entries, before, loses, after)
	}
	t.Logf("of %d entries %d were lost: the newest that is left is %v old", acked, acked-c.Contents.Entries, lost.Sub(c.Contents.LastEntry).Round(time.Millisecond))
	other := "sqlite:" + filepath.Join(t.TempDir(), "bursar.db")
	if _, err := backup.Restore(t.Context(), other, restored, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, other).View(t.Context(), func(tx *store.Tx) error {
		if text, err := tx.Restored(t.Context()); err != nil || text == "" {
			t.Errorf("it is marked %q, %v", text, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// litestream holds a reading transaction and checkpoints by itself; none of it may hold up those who write for long, and the
// log must not grow without an end.
func TestLitestreamHoldsNobodyUp(t *testing.T) {
	program := cached(t, "BURSAR_LITESTREAM", "litestream-0.5.18", "litestream")
	machine := t.TempDir()
	path := filepath.Join(machine, "bursar.db")
	w := write(t, open(t, "sqlite:"+path))
	w.more(1)
	replicating := exec.Command(program, "replicate", path, "file://"+filepath.Join(machine, "far"))
	if err := replicating.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = replicating.Process.Kill(), replicating.Wait() })
	w.more(3000)
	w.stop()
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() > 121359*4096 { // where litestream 0.5 truncates it at the latest (truncate-page-n)
		t.Errorf("after 3,000 writes the log has %d bytes, %v", info.Size(), err)
	}
}

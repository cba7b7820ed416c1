package drill

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/backup"
	"github.com/bursar/bursar/store"
)

// loses is the promise of docs/operations/backup.md about litestream: what was committed longer ago than this is in
// the replica.
const loses = 10 * time.Second

// TestLitestreamLosesNoMoreThanItsInterval loses the machine with the database and litestream at any time: the
// replica has all but the last seconds.
func TestLitestreamLosesNoMoreThanItsInterval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bursar.db")
	db := open(t, "sqlite:"+path)
	replica := NewReplica(t, path)
	w := write(t, db)
	before := w.more(100)
	<-time.After(loses) // under load, because the replica may be behind by no more than this
	acked := w.count()
	replica.Kill()
	lost := time.Now()
	after := w.more(50) // what a dead litestream does not see
	w.stop()

	restored, err := replica.Restore()
	if err != nil {
		t.Fatal(err)
	}
	c, err := backup.Check(t.Context(), "", restored, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Contents.Entries < before || c.Contents.Entries > after {
		t.Errorf("the replica has %d entries; %d were acknowledged %v before the end, %d in "+
			"total", c.Contents.Entries, before,
			loses, after)
	}
	t.Logf("of %d entries %d were lost: the newest that is left is %v old", acked, acked-c.Contents.Entries,
		lost.Sub(c.Contents.LastEntry).Round(time.Millisecond))
	other := "sqlite:" + filepath.Join(t.TempDir(), "bursar.db")
	if _, err := backup.Restore(t.Context(), other, restored, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, other).View(t.Context(), func(tx *store.Tx) error {
		if text, err := tx.Settings().Restored(t.Context()); err != nil || text == "" {
			t.Errorf("the copy is marked %q, %v, want not %q", text, err, "")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestLitestreamDoesNotBlockWriters checks that litestream, which holds a reading transaction and checkpoints by
// itself, never holds up writers for long, and that the log does not grow without an end.
func TestLitestreamDoesNotBlockWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bursar.db")
	w := write(t, open(t, "sqlite:"+path))
	w.more(1)
	NewReplica(t, path)
	w.more(3000)
	w.stop()
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() > 121359*4096 { // where litestream 0.5 truncates it at the latest (truncate-page-n)
		t.Errorf("after 3,000 writes the log has %d bytes, %v, want at most %v", info.Size(), err, 121359*4096)
	}
}

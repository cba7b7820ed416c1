package e2e

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/drill"
)

// The disk of the database has no room left under load. The service says so, loses nothing, and goes on by itself, in
// the same process, once there is room.
func TestADiskThatIsFull(t *testing.T) {
	dir := drill.SmallDisk(t, "96m")
	w := newRemoteSigner(t, build(t), "sqlite:"+filepath.Join(dir, "bursar.db"))
	l := w.load(1)
	w.loaded(l, 1)
	empty := drill.Fill(t, dir)
	w.eventually("the service says why", func() error {
		if text := w.server.log.String(); !strings.Contains(text, "database or disk is full") {
			return errors.New("it does not")
		}
		return nil
	})
	empty()
	began := time.Now()
	w.loaded(l, 2)
	t.Logf("ten orders are taken %v after there is room again", time.Since(began).Round(time.Millisecond))
	l.end()
	w.audit()
	if err := w.server.stop(); err != nil {
		t.Fatal(err)
	}
	w.endCleanly()
}

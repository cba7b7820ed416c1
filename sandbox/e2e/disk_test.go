package e2e

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/drill"
)

// TestADiskThatIsFull fills the disk of the database under load. The service says so, loses nothing, and continues by
// itself, in the same process, once there is space.
func TestADiskThatIsFull(t *testing.T) {
	t.Parallel()
	dir := drill.SmallDisk(t, "96m")
	w := newSeparateService(t, build(t), "sqlite:"+filepath.Join(dir, "bursar.db"), fewChains)
	l := w.load(1)
	w.loaded(l, 1)
	empty := drill.Fill(t, dir)
	w.eventually("the service logs the reason", func() error {
		if text := w.server.log.String(); !strings.Contains(text, "database or disk is full") {
			return errors.New("the service does not log it")
		}
		return nil
	})
	empty()
	began := time.Now()
	w.loaded(l, 2)
	t.Logf("ten withdrawals are accepted %v after there is space again", time.Since(began).Round(time.Millisecond))
	l.end()
	w.audit()
	if err := w.server.stop(); err != nil {
		t.Fatal(err)
	}
	w.endCleanly()
}

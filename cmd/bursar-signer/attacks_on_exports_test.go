package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bursar/bursar/signer"
)

// export writes an export of the signer's state.
func (c *lyingService) export(name string) {
	c.t.Helper()
	c.says("has the state of instance", "export", name)
}

// TestAnExportIsNoWayOut replaces the state of a signer by a new one into which its export is merged: what the limits
// hold stays used up, the same payment counts once, a freeze stays, and neither a changed export nor an old one, nor
// the same one again, gives anything back.
func TestAnExportIsNoWayOut(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	first := c.takes(30)
	c.want("a payment", first, "")
	c.export("older")
	c.want("another payment", c.takes(40), "")
	c.export("newest")
	c.stop(syscall.SIGTERM)
	if _, says, code := c.run("freeze", "--reason", "the machine is given away"); code != 0 {
		t.Fatalf("freeze exits with %d: %s, want 0", code, says)
	}
	c.export("frozen")
	if _, says, code := c.run("export", "newest"); code != 1 || !strings.Contains(says, "file exists") {
		t.Errorf("over another export it exits with %d: %s, want 1", code, says)
	}

	c.put(nil)
	c.must(os.Remove(filepath.Join(c.folder, "seed.age.state.frozen")))
	if _, says, code := c.run("init", "--unused"); code != 0 {
		t.Fatalf("init exits with %d: %s, want 0", code, says)
	}
	c.write("changed", strings.Replace(c.read("newest"), `"high_water":1`, `"high_water":2`, 1))
	if _, says, code := c.run("import", "changed", "--reason", "an attack"); code != 1 || !strings.Contains(says,
		"the file was changed") {
		t.Errorf("a changed export: it exits with %d: %s, want 1", code, says)
	}
	c.says("2 transactions were not known here, 0 were", "import", "newest", "--reason", "a new machine")
	c.says("0 transactions were not known here, 1 were", "import", "older", "--reason", "an older export")
	c.says("0 transactions were not known here, 2 were", "import", "newest", "--reason", "again")
	c.start()
	c.want("what was signed before counts once", first, "")
	c.want("beyond what the window has left", c.takes(31), signer.ReasonQuota)
	c.want("what the window has left", c.takes(30), "")
	if _, says, code := c.run("import", "newest", "--reason", "beside the signer"); code != 1 ||
		!strings.Contains(says, "another signer uses") {
		t.Errorf("beside a running signer it exits with %d: %s, want 1", code, says)
	}
	c.stop(syscall.SIGTERM)
	c.says("0 transactions were not known here, 2 were", "import", "frozen", "--reason", "the last export")
	c.start()
	c.want("after the export of a frozen signer", c.takes(1), signer.ReasonFrozen)
	c.says("of which each follows from the one before", "audit", "verify")
}

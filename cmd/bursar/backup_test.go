package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.sealSeed()
	d.fails(1, "no such file", "backup", "a.db")
	d.ok("account", "create", "--name", "first")
	out := d.ok("backup", "a.db")
	for _, part := range []string{"sha256", "pages, references and books are intact", "1 accounts, 0 wallets"} {
		if !strings.Contains(out, part) {
			t.Errorf("a backup prints no %q:\n%s", part, out)
		}
	}
	d.fails(2, "never overwrites a file", "backup", "a.db")
	if looked := parse[backedUp](d, "backup", "--check", "--json", "a.db"); !looked.Summed || !looked.Checked ||
		looked.Accounts != 1 || looked.Schema < 8 || looked.Acts != 1 || len(looked.ActsHead) != 64 ||
		!strings.Contains(out, looked.ActsHead) || !strings.Contains(d.ok("doctor"), looked.ActsHead) {
		t.Errorf("checking it gives %+v", looked)
	}
	d.ok("account", "create", "--name", "second")
	restored := parse[backedUp](d, "restore", "--json", "a.db")
	if restored.Database == "" || !strings.HasPrefix(restored.Previous, restored.Database+".replaced-") ||
		restored.Accounts != 1 {
		t.Errorf("restoring gives %+v, want not %q and %v first and 1", restored, "", restored.Database+".replaced-")
	}
	if list := d.ok("account", "list"); !strings.Contains(list, "first") || strings.Contains(list, "second") {
		t.Errorf("afterwards there are\n%s, want %q in it and no %q", list, "first", "second")
	}
	if said := d.ok("restore", "a.db"); !strings.Contains(said, "marked as restored") {
		t.Errorf("it says\n%s, want %q in it", said, "marked as restored")
	}
	if err := os.WriteFile(filepath.Join(d.dir, "a.db.sha256"), []byte("00  a.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.fails(1, "the file does not match its .sha256", "restore", "a.db")
}

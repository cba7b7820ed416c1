package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Both units are understood by systemd whole, and leave less open than 2.0 of 10 by its own measure.
func TestTheUnitsAreHardened(t *testing.T) {
	t.Parallel()
	need(t, "systemd-analyze")
	for _, p := range packages {
		if !p.service {
			continue
		}
		text, err := os.ReadFile("../docs/operations/" + p.name + ".service")
		if err != nil {
			t.Fatal(err)
		}
		unit := filepath.Join(t.TempDir(), p.name+".service")
		text = []byte(strings.Replace(string(text), "/usr/local/bin/"+p.name, "/bin/true", 1))
		if err := os.WriteFile(unit, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if said := prints(t, "systemd-analyze", "verify", unit); said != "" {
			t.Errorf("systemd-analyze says of %s: %s, want nothing", p.name, said)
		}
		prints(t, "systemd-analyze", "security", "--offline=true", "--threshold=20", unit)
	}
}

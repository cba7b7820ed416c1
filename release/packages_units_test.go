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

// Every part of a unit that a document shows is understood by systemd in the unit that it is for.
func TestTheDocumentedPartsOfUnits(t *testing.T) {
	t.Parallel()
	need(t, "systemd-analyze")
	for page, unit := range map[string]string{"seed.md": "bursar-signer", "first-hour.md": "bursar"} {
		text, err := os.ReadFile("../docs/operations/" + page)
		if err != nil {
			t.Fatal(err)
		}
		_, part, has := strings.Cut(string(text), "\n[Service]\n")
		if !has {
			t.Fatalf("%s shows no part of a unit, want one", page)
		}
		part, _, _ = strings.Cut(strings.Split(part, "```")[0], "\nEND")
		whole, err := os.ReadFile("../docs/operations/" + unit + ".service")
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		if err := os.Mkdir(filepath.Join(folder, unit+".service.d"), 0o750); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{
			unit + ".service":                 strings.Replace(string(whole), "/usr/local/bin/"+unit, "/bin/true", 1),
			unit + ".service.d/override.conf": "[Service]\n" + part + "\n",
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if said := prints(t, "systemd-analyze", "verify", filepath.Join(folder, unit+".service")); said != "" {
			t.Errorf("systemd-analyze says of %s: %s, want nothing", page, said)
		}
	}
}

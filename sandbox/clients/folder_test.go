package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsMissingIsNamedWithItsInstaller checks that without Node.js or the libraries, or with others, the error
// says what to run.
func TestWhatIsMissingIsNamedWithItsInstaller(t *testing.T) {
	programs, folder := t.TempDir(), t.TempDir()
	t.Setenv("PATH", programs)
	t.Setenv("BURSAR_CLIENTS", folder)
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(says ...string) {
		t.Helper()
		found, err := Folder()
		if err == nil {
			t.Fatalf("found %s, want an error", found)
		}
		for _, part := range append(says, "go run ./test -install clients") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
	refused("Node.js")
	write(filepath.Join(programs, "node"), "#!/bin/sh\n")
	refused("missing")
	write(filepath.Join(folder, "package-lock.json"), "{}")
	refused("not of the versions")
	write(filepath.Join(folder, "package-lock.json"), string(wanted))
	if found, err := Folder(); err != nil || found != folder {
		t.Errorf("found %q: %v, want %v", found, err, folder)
	}
}

package clients

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// install is the command that installs them.
const install = "go run ./test -install clients"

// wanted are the libraries that the tests are written against, with all that they need.
//
//go:embed javascript/package-lock.json
var wanted []byte

// Folder returns the directory whose node_modules holds the libraries: that of BURSAR_CLIENTS, or the one that
// install fills. If they, or Node.js, are missing or differ from the versions of the tests, the error says what to
// run.
func Folder() (string, error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", fmt.Errorf("the tests' client libraries need Node.js: run %s: %w", install, err)
	}
	folder := os.Getenv("BURSAR_CLIENTS")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the tests' client libraries: %w", err)
		}
		folder = filepath.Join(cache, "bursar-nodes", "clients")
	}
	found, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return "", fmt.Errorf("the tests' client libraries are missing: run %s: %w", install, err)
	}
	if !bytes.Equal(found, wanted) {
		return "", fmt.Errorf("the client libraries in %s are not of the versions that the tests need: run "+
			"%s", folder, install)
	}
	return folder, nil
}

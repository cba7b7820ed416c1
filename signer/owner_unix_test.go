//go:build unix

package signer

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Root changes the seed file of a service that runs as another user, who must be able to read it at the next start.
func TestAReplacedSeedFileKeepsItsOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root changes files of others")
	}
	const user = 12345
	path := filepath.Join(t.TempDir(), "seed.age")
	if err := WriteSeedFile(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, user, user); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceSeedFile(path, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t).Uid; got != user || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is of user %d with mode %v, want %d and 0600", got, info.Mode(), user)
	}
}

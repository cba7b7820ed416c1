//go:build unix

package host

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// A command that root runs leaves the note of the policy to the user whose folder it is in: otherwise the signer could
// not read at its next start that there was a policy.
func TestNotesBelongToTheOwnerOfTheFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root makes files of others")
	}
	const nobody = 65534
	folder := t.TempDir()
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{SeedFile: filepath.Join(folder, "seed.age")}
	if err := NotePolicy(cfg, memory.KnownPolicy{Version: 1}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(PolicyFile(cfg))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t).Uid; got != nobody {
		t.Errorf("the note belongs to user %d, want %d", got, nobody)
	}
}

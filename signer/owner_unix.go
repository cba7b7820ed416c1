//go:build unix

package signer

import (
	"io/fs"
	"os"
	"syscall"
)

// KeepOwner gives a new file the owner of the one whose place it takes, or of its folder. Where root changes a file
// beside the seed, the user of the service could not read it at the next start.
func KeepOwner(file *os.File, old fs.FileInfo) error {
	stat, is := old.Sys().(*syscall.Stat_t)
	if !is || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}

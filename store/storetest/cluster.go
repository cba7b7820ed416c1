package storetest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// initFlags are the arguments of initdb besides the folder.
var initFlags = []string{"--username=bursar", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"}

// newCluster makes the data folder of a server in dir. It is a copy of one that was made once and is kept in the
// user's cache folder: initdb takes more than a second of CPU time, and some 25 packages have a server of their own.
func newCluster(bin, dir string, attr *syscall.SysProcAttr) error {
	data := filepath.Join(dir, "data")
	kept, err := keptCluster(bin, attr)
	if err != nil {
		kept = "" // without a cache folder each is made again
	}
	if _, err := os.Stat(kept); kept != "" && err == nil {
		if copyFolder(kept, data) == nil {
			return nil
		}
		if err := os.RemoveAll(data); err != nil {
			return err
		}
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), append(initFlags, "-D", data)...)
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if kept != "" {
		keep(data, kept)
	}
	return nil
}

// keptCluster names the folder that is copied. Its name changes with all that decides what initdb writes, and with the
// user that the files belong to.
func keptCluster(bin string, attr *syscall.SysProcAttr) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version, err := exec.Command(filepath.Join(bin, "initdb"), "--version").Output()
	if err != nil {
		return "", err
	}
	owner := uint32(os.Getuid())
	if attr.Credential != nil {
		owner = attr.Credential.Uid
	}
	of := sha256.Sum256([]byte(strings.Join(append(initFlags, bin, string(version), fmt.Sprint(owner)), "\n")))
	return filepath.Join(cache, "bursar-nodes", fmt.Sprintf("postgres-data-%x", of[:8])), nil
}

// keep puts a data folder aside that no server has used yet. It gets its name once it is whole, and the first of
// several processes wins: who finds that name finds all of it. Tests go on without it if that fails.
func keep(data, kept string) {
	if os.MkdirAll(filepath.Dir(kept), 0o755) != nil {
		return
	}
	own, err := os.MkdirTemp(filepath.Dir(kept), "postgres-data-new-")
	if err != nil {
		return
	}
	defer os.RemoveAll(own)
	whole := filepath.Join(own, "data")
	if copyFolder(data, whole) == nil {
		_ = os.Rename(whole, kept)
	}
}

// copyFolder copies a folder with owners and rights; on a file system that can, only what is written later takes space.
func copyFolder(from, to string) error {
	if out, err := exec.Command("cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w\n%s", from, err, out)
	}
	return nil
}

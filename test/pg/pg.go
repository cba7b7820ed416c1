// Package pg finds the PostgreSQL of this machine, and the user that can run it, for tests and measurements.
//
// It owns where PostgreSQL is looked for. It never installs or starts it.
package pg

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ErrMissing is returned where there is no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is missing: run go run ./test -install postgresql")

// Programs returns the folder of PostgreSQL's programs, or ErrMissing.
func Programs() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // where Debian keeps it off the PATH
	if len(found) == 0 {
		return "", ErrMissing
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// Unprivileged returns how a process of PostgreSQL is started. It does not run as root, so where this process does, the
// folder is given to another user, who runs it.
func Unprivileged(folder string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return attr, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attr, os.Chown(folder, uid, gid)
	}
	return nil, errors.New("PostgreSQL does not run as root, and neither the user postgres nor nobody exists")
}

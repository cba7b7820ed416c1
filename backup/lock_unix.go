//go:build linux || darwin

package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockFile takes the locks of a SQLite file that every connection in WAL mode shares while it is open (SQLite, os.h:
// PENDING_BYTE, RESERVED_BYTE and SHARED_SIZE; wal.html, 2.2), so that no process opens it until the lock is closed. It
// returns nil if there is no file; the error is ErrInUse if a process has it open. A damaged file can be locked too.
func lockFile(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	const pending, length = 0x40000000, 512
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{
		Type:   syscall.F_WRLCK,
		Whence: io.SeekStart,
		Start:  pending,
		Len:    length,
	})
	switch {
	case err == nil:
		return file, nil
	case errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES):
		err = ErrInUse
	}
	return nil, errors.Join(fmt.Errorf("lock the database %s: %w", path, err), file.Close())
}

// sameOwner lets root give a file to the owner of the database, or of its folder if there is none: the service runs as
// that user.
func sameOwner(name, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	like, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		like, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		return os.Chown(name, int(owner.Uid), int(owner.Gid))
	}
	return nil
}

//go:build unix

package marks

import (
	"errors"
	"os"
	"syscall"
)

// lock waits until no other process holds the lock file, and holds it until unlock is called or the process ends.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// lockToRead waits until no process holds the lock file to write. The error says that it cannot be opened.
func lockToRead(path string) (unlock func() error, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

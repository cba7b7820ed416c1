//go:build unix

package memory

import (
	"errors"
	"os"
	"syscall"
)

// lock holds the lock file until unlock is called or the process ends. ErrLocked: another signer holds it.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := exclude(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// exclude takes a file's lock alone until it is closed; share takes it with others until unshare. ErrLocked: another
// holds it.
func exclude(file *os.File) error { return flock(file, syscall.LOCK_EX) }

func share(file *os.File) error { return flock(file, syscall.LOCK_SH) }

func unshare(file *os.File) { _ = flock(file, syscall.LOCK_UN) } // which cannot fail on an open file

func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return ErrLocked
		}
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

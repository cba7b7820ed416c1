package signer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bursar/bursar/durable"
)

// WriteSeedFile stores a sealed seed durably: the file appears complete and readable by its owner alone, or not at all.
// An existing file is never replaced; the error is then fs.ErrExist. The file system must support hard links, the only
// way to put a finished file in place without ever overwriting another.
func WriteSeedFile(path string, sealed []byte) (err error) {
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, ".seed-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write the seed file: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(sealed)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the seed file: %w", err)
	}
	if err := os.Link(file.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write the seed file: %s exists and is not overwritten: %w", path, fs.ErrExist)
		}
		return fmt.Errorf("write the seed file: %w", err)
	}
	return durable.SyncFolder(folder)
}

// ErrChanging means that another command changes the seed file, or was interrupted while it did.
var ErrChanging = errors.New("another command is changing the seed file, or was interrupted")

// ErrChanged means that the seed file is not the one that was read.
var ErrChanged = errors.New("the seed file was changed meanwhile: look at it, and begin again")

// ReplaceSeedFile puts another sealed seed in the place of one that was read. The old file stays until the new one,
// beside it, is on the disk, was read back and is as it should be; at every moment one of them, whole, has the name.
// The error is ErrChanging, ErrChanged or one of the files.
func ReplaceSeedFile(path string, was, sealed []byte) (err error) {
	old, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("replace the seed file: %w", err)
	}
	next := path + ".new"
	file, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("replace the seed file: %w: if no other command runs, remove %s, in which nothing is that the "+
			"seed file lacks", ErrChanging, next)
	}
	if err != nil {
		return fmt.Errorf("replace the seed file: %w", err)
	}
	renamed := false
	defer func() {
		if !renamed {
			err = errors.Join(err, os.Remove(next))
		}
	}()
	_, err = file.Write(sealed)
	if err = errors.Join(err, KeepOwner(file, old), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("replace the seed file: %w", err)
	}
	if back, err := ReadSealed(next); err != nil || !bytes.Equal(back, sealed) {
		return fmt.Errorf("replace the seed file: %s cannot be read back: %w", next, errors.Join(err, ErrSeedFile))
	}
	if now, err := ReadSealed(path); err != nil || !bytes.Equal(now, was) {
		return fmt.Errorf("replace the seed file: %w", errors.Join(err, ErrChanged))
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("replace the seed file: %w", err)
	}
	renamed = true
	return durable.SyncFolder(filepath.Dir(path))
}

// ReadSeedFile reads and opens a seed file; the errors are those of Open and of reading.
func ReadSeedFile(path string, passphrase Passphrase) (Mnemonic, error) {
	sealed, err := ReadSealed(path)
	if err != nil {
		return Mnemonic{}, err
	}
	return Open(sealed, passphrase)
}

// ReadSealed reads a seed file, for Open.
func ReadSealed(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the seed file: %w", err)
	}
	sealed, err := io.ReadAll(io.LimitReader(file, maxSeedFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read the seed file: %w", err)
	}
	return sealed, nil
}

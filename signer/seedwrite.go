package signer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	return syncFolder(folder)
}

// syncFolder makes a new directory entry durable, so that it survives a power failure.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("sync the seed file's folder: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync the seed file's folder: %w", err)
	}
	return nil
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

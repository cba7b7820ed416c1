// Package durable makes the names of files survive a power failure.
//
// It owns how a folder is synced. It never writes the content of a file: what writes that also syncs it.
package durable

import (
	"errors"
	"fmt"
	"os"
)

// SyncFolder waits until the names of the files in a folder, which were created, renamed or removed, are on the disk.
func SyncFolder(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", folder, err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", folder, err)
	}
	return nil
}

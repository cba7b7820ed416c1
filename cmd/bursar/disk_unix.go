//go:build linux || darwin

package main

import (
	"fmt"
	"syscall"
)

// freeSpace returns how many bytes an unprivileged user may still write in a folder.
func freeSpace(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("read the free space of %s: %w", folder, err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

//go:build unix

package host

import "syscall"

// rights says that the modes of files are theirs.
const rights = true

// KeepPrivate makes the files that this process creates readable by their owner alone.
func KeepPrivate() { syscall.Umask(0o077) }

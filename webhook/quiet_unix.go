//go:build unix

package webhook

import (
	"errors"
	"syscall"
)

// nothingCame reports whether a socket is open and there is nothing to be read from it. It looks, and reads nothing.
func nothingCame(socket uintptr) bool {
	var one [1]byte
	_, _, err := syscall.Recvfrom(int(socket), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN)
}

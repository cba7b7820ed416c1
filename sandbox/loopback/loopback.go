// Package loopback finds addresses for servers that cannot listen on port 0 and whose address others must know before
// they listen.
//
// It owns the addresses that it has returned, and never a connection. Its invariant: an address that it returned is
// returned to no other caller, in whatever process of this machine, while this process runs, and the system gives it to
// no server that asks for any port.
package loopback

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
)

// The ports are below those that systems give to servers that ask for any, so that no other server takes one first.
// Each process has a range of them.
const (
	firstPort = 20_000
	ranges    = 100
	perRange  = 100
)

var (
	given atomic.Uint32 // how many were returned
	mine  = sync.OnceValues(takeRange)
)

// Free returns a loopback address on which nothing listens now.
func Free() (string, error) {
	first, err := mine()
	if err != nil {
		return "", err
	}
	for range perRange {
		port := first + given.Add(1)%perRange
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port of loopback is free")
}

// takeRange returns the first port of a range that no other process has. It is this one's until it ends, with the lock
// of a file, whatever kills it.
func takeRange() (uint32, error) {
	for i := range uint32(ranges) {
		n := (uint32(os.Getpid()) + i) % ranges
		name := filepath.Join(os.TempDir(), fmt.Sprintf("bursar-loopback-%d", n))
		file, err := syscall.Open(name, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o666)
		if err != nil {
			continue // another user's
		}
		if syscall.Flock(file, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return firstPort + n*perRange, nil // it stays open
		}
		if err := syscall.Close(file); err != nil {
			return 0, fmt.Errorf("close %s: %w", name, err)
		}
	}
	return 0, errors.New("every range of ports is taken by another process")
}

// Package loopback finds addresses for servers that cannot listen on port 0 and whose address others must know before
// they listen.
//
// It owns the addresses that it has returned, and never a connection. Its invariant: an address that it returned is
// returned to no other caller in this process, and the system gives it to no server that asks for any port.
package loopback

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

var given atomic.Uint32 // how many were returned

// Free returns a loopback address on which nothing listens now. Its port is below those that systems give to servers
// that ask for any, so that no other server takes it first.
func Free() (string, error) {
	for range 1000 {
		port := 20_000 + (100*uint32(os.Getpid())+given.Add(1))%10_000
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port of loopback is free")
}

// Package loopback finds addresses for servers that take no port 0 and of which others must know the address before
// they listen.
//
// It owns no connection. Its invariant: an address that it gave out is given to no other server of this process, and
// to none that asks its system for any port.
package loopback

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

var given atomic.Uint32 // how many were given out

// Free returns an address of loopback that nothing listens on now. Its port lies below those that systems give to
// anyone who asks for any, so that no other server takes it before the one that it is for.
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

package remote

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// peerUser returns the user of the process at the other end of a socket, as the system knows it (SO_PEERCRED of
// unix(7)): that of the time when it connected.
func peerUser(c net.Conn) (uint32, error) {
	socket, is := c.(*net.UnixConn)
	if !is {
		return 0, errors.New("this is not a socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, err
	}
	return peer.Uid, nil
}

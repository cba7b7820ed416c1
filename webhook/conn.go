package webhook

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// conn is a connection to a receiver.
type conn struct {
	net.Conn
	key    string
	raw    syscall.RawConn // of the socket
	reader *bufio.Reader
	writer *bufio.Writer
	header int // bytes that the header of the response may have yet
	body   bool
	since  time.Time
}

// bind ends what is done with the connection when a context ends. unbind ends that, and reports whether the context had
// no effect on the connection.
func (c *conn) bind(ctx context.Context) (unbind func() bool) {
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline) // the zero time is none
	return context.AfterFunc(ctx, func() { _ = c.SetDeadline(longAgo) })
}

// mostInformational is how many responses may come before the one that counts, as in http.Transport.
const mostInformational = 5

var errInformational = errors.New("too many responses before the one that counts")

// exchange writes a request and reads the start of its response, even if the receiver did not take all of the request:
// it may have said why.
func (c *conn) exchange(r *http.Request) (*http.Response, error) {
	unwritten := r.Write(c.writer)
	if unwritten == nil {
		unwritten = c.writer.Flush()
	}
	response, err := c.response(r)
	if err != nil {
		return nil, cmp.Or(unwritten, err)
	}
	response.Close = response.Close || unwritten != nil
	return response, nil
}

// response reads the response that counts.
func (c *conn) response(r *http.Request) (*http.Response, error) {
	for range mostInformational + 1 {
		c.header, c.body = maxHeader+c.reader.Size(), false
		response, err := http.ReadResponse(c.reader, r)
		if err != nil {
			return nil, err
		}
		c.body = true
		if response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, nil
		}
	}
	return nil, errInformational
}

// quiet reports whether nothing has come over the connection since it was used, not even its end: whatever comes
// without a request ends a connection.
func (c *conn) quiet() bool {
	if !c.drained() || c.SetDeadline(time.Time{}) != nil {
		return false
	}
	quiet := false
	err := c.raw.Read(func(socket uintptr) bool {
		quiet = nothingCame(socket)
		return true
	})
	return err == nil && quiet
}

// drained reports whether nothing is left of what was read from the socket: TLS reads more than one record at a time,
// and what came behind a response is with it, not with the socket. A deadline that is over keeps the socket from being
// read, and does a connection of TLS no harm.
func (c *conn) drained() bool {
	if c.SetReadDeadline(longAgo) != nil {
		return false
	}
	_, err := c.reader.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)

var errLongHeader = errors.New("the header of the response is too long")

// limited reads from a connection, and no more of a response's header than is allowed.
type limited struct{ *conn }

// Read reads from the connection.
func (l limited) Read(into []byte) (int, error) {
	if l.body {
		return l.Conn.Read(into)
	}
	if l.header <= 0 {
		return 0, errLongHeader
	}
	n, err := l.Conn.Read(into[:min(len(into), l.header)])
	l.header -= n
	return n, err
}

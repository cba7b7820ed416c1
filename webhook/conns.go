package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// conns are connections of HTTP/1.1 over which one request is made at a time, by the goroutine that makes the attempt.
// http.Transport has two goroutines for each connection, between which every request and every response is handed over:
// that took as much processor time as all the rest of a delivery. What is promised of a request is as with
// http.Transport: it is sent once, a connection is used again only while nothing has come over it and its receiver has
// not closed it, and nothing is dialled but by dial. It is safe for concurrent use.
type conns struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	tls    *tls.Config // nil: the default
	limits limits

	mu      sync.Mutex
	idle    map[string][]*conn // by scheme and host, the newest last
	count   int                // of them all
	reaping bool
}

// tlsWithin bounds a TLS handshake.
const tlsWithin = 10 * time.Second

func newConns(dial func(ctx context.Context, network, address string) (net.Conn, error), l limits) *conns {
	return &conns{dial: dial, limits: l, idle: map[string][]*conn{}}
}

// do sends a request and reads the begin of its response, whose body the caller closes.
func (p *conns) do(r *http.Request) (*http.Response, error) {
	c, err := p.take(r)
	if err != nil {
		return nil, err
	}
	unbind := c.bind(r.Context())
	response, err := c.exchange(r)
	if err != nil {
		unbind()
		_ = c.Close()
		if ended := r.Context().Err(); ended != nil {
			return nil, ended
		}
		return nil, err
	}
	response.Body = &received{ReadCloser: response.Body, of: c, to: p, unbind: unbind,
		once: response.Close || response.StatusCode == http.StatusSwitchingProtocols}
	return response, nil
}

// take returns a connection for a request: the one that was used last, or a new one.
func (p *conns) take(r *http.Request) (*conn, error) {
	key := r.URL.Scheme + "://" + r.URL.Host
	for c := p.newest(key); c != nil; c = p.newest(key) {
		if time.Since(c.since) < keepIdle && c.quiet() {
			return c, nil
		}
		_ = c.Close()
	}
	return p.connect(r, key)
}

func (p *conns) newest(key string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remove(key, len(p.idle[key])-1)
}

// remove takes a connection out of those that are idle; nil where there is none. The caller holds the lock.
func (p *conns) remove(key string, i int) *conn {
	list := p.idle[key]
	if i < 0 || i >= len(list) {
		return nil
	}
	c := list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = nil
	if p.idle[key] = list[:len(list)-1]; len(list) == 1 {
		delete(p.idle, key)
	}
	p.count--
	return c
}

func (p *conns) connect(r *http.Request, key string) (*conn, error) {
	ctx, port := r.Context(), r.URL.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[r.URL.Scheme == "https"]
	}
	under, err := p.dial(ctx, "tcp", net.JoinHostPort(r.URL.Hostname(), port))
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: under, key: key}
	if of, is := under.(syscall.Conn); is {
		c.raw, _ = of.SyscallConn() // without it, it is not used again
	}
	if r.URL.Scheme == "https" {
		if c.Conn, err = p.secured(ctx, under, r.URL.Hostname()); err != nil {
			_ = under.Close()
			return nil, err
		}
	}
	c.reader, c.writer = bufio.NewReader(limited{c}), bufio.NewWriter(c.Conn)
	return c, nil
}

// secured makes a TLS connection that speaks HTTP/1.1.
func (p *conns) secured(ctx context.Context, under net.Conn, host string) (net.Conn, error) {
	config := &tls.Config{}
	if p.tls != nil {
		config = p.tls.Clone()
	}
	config.ServerName, config.NextProtos = host, []string{"http/1.1"}
	ctx, cancel := context.WithTimeout(ctx, tlsWithin)
	defer cancel()
	secured := tls.Client(under, config)
	return secured, secured.HandshakeContext(ctx)
}

// put keeps a connection for the next request. Where as many are kept as may be, another one is closed.
func (p *conns) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.raw == nil || len(p.idle[c.key]) >= p.limits.destination {
		_ = c.Close()
		return
	}
	if p.count >= p.limits.sending {
		for key := range p.idle {
			_ = p.remove(key, 0).Close()
			break
		}
	}
	c.since = time.Now()
	p.idle[c.key], p.count = append(p.idle[c.key], c), p.count+1
	if !p.reaping {
		p.reaping = true
		time.AfterFunc(keepIdle, p.reap)
	}
}

// reap closes the connections that have been idle for too long, and comes again while there are any.
func (p *conns) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeBefore(time.Now().Add(-keepIdle))
	if p.reaping = p.count > 0; p.reaping {
		time.AfterFunc(keepIdle, p.reap)
	}
}

func (p *conns) closeIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeBefore(time.Now())
}

// closeBefore closes what is idle since a time or longer. The caller holds the lock.
func (p *conns) closeBefore(at time.Time) {
	for key, list := range p.idle {
		for len(list) > 0 && !list[0].since.After(at) {
			_ = p.remove(key, 0).Close()
			list = p.idle[key]
		}
	}
}

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

// bind has what is done with the connection end with a context. unbind ends that, and reports whether the context had
// no effect on the connection.
func (c *conn) bind(ctx context.Context) (unbind func() bool) {
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline) // the zero time is none
	return context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
}

// mostInformational is how many responses may come before the one that counts, as in http.Transport.
const mostInformational = 5

var errInformational = errors.New("too many responses before the one that counts")

func (c *conn) exchange(r *http.Request) (*http.Response, error) {
	if err := r.Write(c.writer); err != nil {
		return nil, err
	}
	if err := c.writer.Flush(); err != nil {
		return nil, err
	}
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
	if c.SetDeadline(time.Time{}) != nil {
		return false
	}
	quiet := false
	err := c.raw.Read(func(socket uintptr) bool {
		quiet = nothingCame(socket)
		return true
	})
	return err == nil && quiet
}

var errLongHeader = errors.New("the header of the response is too long")

// limited reads from a connection, of a response's header no more than it may have.
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

// received is the body of a response. A connection whose response was read to its end is kept.
type received struct {
	io.ReadCloser
	of     *conn
	to     *conns
	unbind func() bool
	once   bool // the connection is not used again
	ended  bool
	closed bool
}

// Read reads the body.
func (b *received) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// Close gives the connection back, or closes it.
func (b *received) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	if !b.unbind() || !b.ended || b.once || b.of.reader.Buffered() > 0 {
		return b.of.Close()
	}
	b.to.put(b.of)
	return nil
}

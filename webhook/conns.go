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
// that took as much processor time as all the rest of a delivery. The guarantees for a request are those of
// http.Transport: it is sent once, a connection is used again only while nothing has come over it and its receiver has
// not closed it, and nothing is dialled but by dial. It is safe for concurrent use.
type conns struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	tls    *tls.Config // nil: the default
	limits limits

	mu    sync.Mutex
	idle  map[string][]*conn // by scheme and host, the newest last
	count int                // of them all
	timer *time.Timer        // of the next reap; nil: there is nothing to be closed
}

// tlsWithin bounds a TLS handshake.
const tlsWithin = 10 * time.Second

func newConns(dial func(ctx context.Context, network, address string) (net.Conn, error), l limits) *conns {
	return &conns{dial: dial, limits: l, idle: map[string][]*conn{}}
}

// do sends a request and reads the start of its response, whose body the caller closes.
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

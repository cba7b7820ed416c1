package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/bursar/bursar/netpolicy"
)

// The reasons not to dial. They name no address: how a name resolves in the operator's network is not for customers.
var (
	errNotPublic = errors.New("the host's address is not public")
	errPort      = errors.New("ports below 1024 other than 80 and 443 are not allowed")
)

// maxHeader is the maximum size of a response's header.
const maxHeader = 32 << 10

// keepIdle is shorter than the 5 seconds after which common servers close a connection, so that hardly any request uses
// a connection that is just being closed.
const keepIdle = 4 * time.Second

// Poster sends requests. It must not follow redirects.
type Poster interface {
	Do(*http.Request) (*http.Response, error)
	CloseIdleConnections()
}

// poster speaks HTTP/1.1 over connections of its own, and HTTP/2 over a bare transport: what http.Client adds to one,
// redirects and cookies, is not wanted. What a receiver speaks over TLS is known from its first response.
type poster struct {
	transport *http.Transport
	conns     *conns

	mu    sync.Mutex
	older map[string]bool // hosts that speak HTTP/1.1 over TLS
}

// Do sends a request, once. It follows no redirect.
func (p *poster) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "http" || p.isOlder(r.URL.Host) {
		return p.conns.do(r)
	}
	response, err := p.transport.RoundTrip(r)
	if err == nil && response.ProtoMajor == 1 {
		p.noteOlder(r.URL.Host)
	}
	return response, err
}

func (p *poster) isOlder(host string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.older[host]
}

func (p *poster) noteOlder(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.older) >= longestHostsList {
		clear(p.older)
	}
	p.older[host] = true
}

// CloseIdleConnections closes the connections over which nothing is sent.
func (p *poster) CloseIdleConnections() {
	p.conns.closeIdle()
	p.transport.CloseIdleConnections()
}

// newClient returns a poster that follows no redirect, uses no proxy and no cookies, decompresses nothing, and dials
// only what the rules allow.
func newClient(allowed []netip.Prefix, l limits) *poster {
	return newPoster(newDialer(allowed), l, nil)
}

// newPoster is newClient with a dialer and a configuration of TLS; nil: the default.
func newPoster(dialer *net.Dialer, l limits, secured *tls.Config) *poster {
	p := &poster{transport: newTransport(dialer, l), conns: newConns(dialer.DialContext, l), older: map[string]bool{}}
	p.transport.TLSClientConfig, p.conns.tls = secured, secured
	return p
}

func newTransport(dialer *net.Dialer, l limits) *http.Transport {
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           l.sending,
		MaxIdleConnsPerHost:    l.destination,
		IdleConnTimeout:        keepIdle,
		TLSHandshakeTimeout:    tlsWithin,
		MaxResponseHeaderBytes: maxHeader,
		// Without pings an HTTP/2 connection whose peer has vanished would be used again and again.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
	}
}

// newDialer returns a dialer that checks every address at the moment of connecting, after name resolution.
func newDialer(allowed []netip.Prefix) *net.Dialer {
	return &net.Dialer{
		Timeout:   10 * time.Second,
		KeepAlive: 30 * time.Second,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return checkAddress(address, allowed)
		},
	}
}

func checkAddress(address string, allowed []netip.Prefix) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !netpolicy.MayDial(to.Addr(), allowed) {
		return errNotPublic
	}
	if p := to.Port(); p < 1024 && p != 80 && p != 443 {
		return errPort
	}
	return nil
}

package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
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

// poster is a bare transport: what http.Client adds to one, redirects and cookies, is not wanted.
type poster struct{ *http.Transport }

func (p poster) Do(r *http.Request) (*http.Response, error) { return p.RoundTrip(r) }

// newClient returns a poster that follows no redirect, uses no proxy and no cookies, decompresses nothing, and dials
// only what the rules allow.
func newClient(allowed []netip.Prefix, l limits) poster {
	return poster{newTransport(newDialer(allowed), l)}
}

func newTransport(dialer *net.Dialer, l limits) *http.Transport {
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           l.sending,
		MaxIdleConnsPerHost:    l.destination,
		IdleConnTimeout:        keepIdle,
		TLSHandshakeTimeout:    10 * time.Second,
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

package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

const (
	maxEndpoints    = 16
	maxPauseAllowed = time.Hour
	// maxRetryAfter bounds the pause that a node may ask for with Retry-After.
	maxRetryAfter = 5 * time.Minute
	// maxCheckTime bounds a check, which is one or two calls with small answers: a caller waits for it.
	maxCheckTime = 10 * time.Second
	// dialTime bounds how long a caller waits for a host that does not even refuse the connection, when another endpoint
	// may serve.
	dialTime = 2 * time.Second
	// recheckAfter is how old a check may be for an answer through a new connection to be accepted without another one.
	recheckAfter = 10 * time.Second
)

// Version is the value of "jsonrpc" in the request envelope.
type Version string

// The versions. Nodes of Bitcoin's kind older than Bitcoin Core 28 use 1.0 (and answer errors with HTTP 500 and 404);
// all others use 2.0.
const (
	V1 Version = "1.0"
	V2 Version = "2.0"
)

// Config configures a Client. Only URLs is required; zero values mean the defaults that are named here.
type Config struct {
	// URLs are http or https addresses, most trusted first, at most 16. User and password become basic authentication.
	URLs []string
	// Branches name what a node serves at another address than its URL: for a path's first part ("/walletsolidity") an
	// address for each of URLs, in their order, empty where it is the URL itself. A URL and its branches are one
	// endpoint.
	Branches map[string][]string
	// Headers are sent with every request. Their values are credentials, such as a provider's key.
	Headers map[string]string
	Version Version // V2
	// Timeout bounds one attempt at one endpoint, from dialling to the last byte: 30 s. A caller's context should allow
	// this time for each endpoint.
	Timeout time.Duration
	// MaxBody bounds an answer, in bytes before and after gzip: 64 MiB. MaxStream bounds the answer for a Streamed: 2
	// GiB.
	MaxBody, MaxStream int64
	MaxBatch           int // calls in one batch: 100
	// Quota bounds the calls to each endpoint; figures that are 0 are taken from the provider's profile.
	Quota Quota
	// Provider names the Profile of all endpoints. Empty: providers are recognised by their hosts. NoProvider: no
	// profile applies.
	Provider string
	// Fetchers is how many items one Fetch requests at once from each endpoint; 0 is automatic: as many as make it
	// faster, at most 32. Window is how many blocks one read should take; 0 is automatic.
	Fetchers, Window int
	// MaxHeld bounds the answers that one Fetch keeps in memory at once, in bytes, by the size of the last ones: 128
	// MiB.
	MaxHeld int64
	// MaxLag is how many blocks behind the best endpoint another may be; 0 means that lag is ignored.
	MaxLag uint64
	// MinPause and MaxPause bound the cool-down of a failing endpoint: 1 s, doubling up to 1 min, with jitter. While no
	// other endpoint is up it is at most 2 s, and half a second for one that cannot be reached. A Retry-After is obeyed in
	// any case, up to 5 min.
	MinPause, MaxPause time.Duration
	MaxConns           int // connections to one host: 36, or four more than Fetchers, for the calls of others

	// Check verifies through the session alone that the node serves the configured chain, and returns a *WrongChainError
	// when it does not. It runs before an endpoint is first used, again after each cool-down, and again before an answer
	// through a later connection is accepted. Nil accepts any node: for tests only.
	Check func(ctx context.Context, s *Session) error
	// Retryable reports whether a node's error is about the node's health rather than about the call: then the endpoint
	// goes into a cool-down and another one is asked. Nil means DefaultRetryable.
	Retryable func(*Error) bool

	HTTP http.RoundTripper   // nil: a transport of its own
	Log  *slog.Logger        // nil: silent
	Now  func() time.Time    // nil: time.Now
	Rand func(n int64) int64 // a random number in [0, n), for jitter; nil: math/rand/v2
}

// String shows nothing of the URLs, which contain credentials.
func (cfg Config) String() string { return fmt.Sprintf("rpc config of %d endpoints", len(cfg.URLs)) }

// GoString is String.
func (cfg Config) GoString() string { return cfg.String() }

// LogValue is String.
func (cfg Config) LogValue() slog.Value { return slog.StringValue(cfg.String()) }

func (cfg Config) withDefaults() (Config, error) {
	cfg.Version = cmp.Or(cfg.Version, V2)
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 64<<20)
	cfg.MaxBatch = cmp.Or(cfg.MaxBatch, 100)
	cfg.MinPause = cmp.Or(cfg.MinPause, time.Second)
	cfg.MaxPause = cmp.Or(cfg.MaxPause, max(time.Minute, cfg.MinPause))
	cfg.MaxConns = cmp.Or(cfg.MaxConns, max(cfg.Fetchers, mostFetchers)+4)
	cfg.MaxStream = cmp.Or(cfg.MaxStream, 2<<30)
	cfg.MaxHeld = cmp.Or(cfg.MaxHeld, 128<<20)
	if cfg.Retryable == nil {
		cfg.Retryable = DefaultRetryable
	}
	if cfg.HTTP == nil {
		cfg.HTTP = newTransport(cfg.MaxConns)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Int64N
	}
	return cfg, cfg.validate()
}

func (cfg Config) validate() error {
	for _, bound := range []struct {
		name  string
		value int64
	}{
		{"the timeout in nanoseconds", int64(cfg.Timeout)}, {"the shortest cool-down in nanoseconds", int64(cfg.MinPause)},
		{"MaxBody", cfg.MaxBody}, {"MaxBatch", int64(cfg.MaxBatch)}, {"MaxConns", int64(cfg.MaxConns)},
		{"MaxStream", cfg.MaxStream}, {"MaxHeld", cfg.MaxHeld}, {"Fetchers", int64(cfg.Fetchers)},
		{"Window", int64(cfg.Window)},
	} {
		if bound.value < 0 {
			return fmt.Errorf("%s is %d, want 0 or more", bound.name, bound.value)
		}
	}
	switch {
	case len(cfg.URLs) == 0:
		return errors.New("no URL")
	case len(cfg.URLs) > maxEndpoints:
		return fmt.Errorf("%d URLs, at most %d are used", len(cfg.URLs), maxEndpoints)
	case !cfg.branchesFit():
		return errors.New("a branch does not have one address for each URL, or its path does not begin with /")
	case !cfg.headersFit():
		return errors.New("a header has an invalid name or an unprintable value, or is one that the client sets itself")
	case cfg.Version != V1 && cfg.Version != V2:
		return fmt.Errorf("unknown JSON-RPC version %q", string(cfg.Version))
	case cfg.MaxBody > 1<<40, cfg.MaxStream > 1<<40:
		return errors.New("the bound of a body is over 1 TiB")
	case cfg.MaxPause < cfg.MinPause || cfg.MaxPause > maxPauseAllowed:
		return fmt.Errorf("the longest cool-down %v is not between %v and %v", cfg.MaxPause, cfg.MinPause, maxPauseAllowed)
	}
	return nil
}

// newTransport keeps connections alive, since a poller asks every second, and bounds their number, since a bitcoind
// refuses calls that do not fit into its work queue.
func newTransport(conns int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           conns * maxEndpoints,
		MaxIdleConnsPerHost:    conns,
		MaxConnsPerHost:        conns,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

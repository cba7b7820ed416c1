// Package fault wraps a node's RPC handler and makes it misbehave for a while, in the ways real nodes do, or serves
// it as hosted providers and load balancers serve theirs.
//
// It owns the kinds of misbehaviour and their clock. It never touches the chain behind: what is paid or mined during
// a fault is there when the fault ends. Its invariants: a fault ends by itself, without another call; a layer without
// a fault changes nothing; only the latest fault is active.
package fault

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Kind names a misbehaviour.
type Kind string

// The troubles: a service can only wait until they end, or use another endpoint.
const (
	Down   Kind = "down"   // connections are reset before any answer
	Slow   Kind = "slow"   // every answer is right and comes seconds late
	Behind Kind = "behind" // the node knows no block above the one it had when the fault began
	Errors Kind = "errors" // answers are refusals, overload, HTML pages and incomplete JSON, in turn
	Spent  Kind = "spent"  // the day's quota is used up: every answer says so
)

// Troubles returns the kinds of trouble.
func Troubles() []Kind { return []Kind{Down, Slow, Behind, Errors, Spent} }

// Kinds returns every kind: troubles and manners.
func Kinds() []Kind { return append(Troubles(), Manners()...) }

// MaxDuration is the longest duration of a fault.
const MaxDuration = time.Hour

// lateness is the delay of a slow node.
const lateness = 3 * time.Second

// Freezer turns a node's handler into that of a node that stays at its present height.
type Freezer func(node http.Handler) (http.Handler, error)

// Layer is the wrapper of one node. It is safe for concurrent use.
type Layer struct {
	freeze Freezer
	now    func() time.Time

	mu    sync.Mutex
	node  http.Handler
	kind  Kind
	until time.Time
	ill   http.Handler // answers during the fault
}

// New returns a layer without a fault.
func New(freeze Freezer, now func() time.Time) *Layer { return &Layer{freeze: freeze, now: now} }

// Wrap puts the layer in front of a node. It is called once, before any other method.
func (l *Layer) Wrap(node http.Handler) http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.node = node
	return l
}

// Beside returns another layer in front of the same node, for another of its endpoints. It is called after Wrap.
func (l *Layer) Beside() *Layer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Layer{freeze: l.freeze, now: l.now, node: l.node}
}

// Set begins a fault that ends by itself, and ends the one before. A duration of zero only ends it. The error is a
// mistake of the caller, or the failure to read the node's height.
func (l *Layer) Set(kind Kind, duration time.Duration) error {
	if !slices.Contains(Kinds(), kind) {
		return fmt.Errorf("fault %q does not exist: use one of %v", kind, Kinds())
	}
	if duration < 0 || duration > MaxDuration {
		return fmt.Errorf("a fault lasts between 0 and %d seconds", MaxDuration/time.Second)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ill, err := l.handler(kind)
	if err != nil {
		return fmt.Errorf("read the height to stay at: %w", err)
	}
	l.kind, l.until, l.ill = kind, l.now().Add(duration), ill
	return nil
}

// handler returns the node as it is with a fault of that kind.
func (l *Layer) handler(kind Kind) (http.Handler, error) {
	switch kind {
	case Down:
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }), nil
	case Slow:
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if late(r, lateness) {
				l.node.ServeHTTP(w, r)
			}
		}), nil
	case Behind:
		return l.freeze(l.node)
	case Errors:
		return &wrong{}, nil
	case Balanced:
		return newBalanced(l.node, l.freeze)
	}
	return newProvider(l.node, kind, l.now), nil
}

// Moved reports that the node's chain has changed. The nodes behind a load balancer lag by such changes.
func (l *Layer) Moved() {
	l.mu.Lock()
	ill := l.ill
	l.mu.Unlock()
	if b, is := ill.(*balanced); is {
		b.moved()
	}
}

// Current returns the present fault and when it ends; the kind is empty without one.
func (l *Layer) Current() (Kind, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kind == "" || !l.now().Before(l.until) {
		return "", time.Time{}
	}
	return l.kind, l.until
}

// ServeHTTP answers as the node does, or as the fault does.
func (l *Layer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	answering := l.node
	if l.kind != "" && l.now().Before(l.until) {
		answering = l.ill
	}
	l.mu.Unlock()
	answering.ServeHTTP(w, r)
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // a connection that cannot be hijacked is cut off by the server instead
	}
	reset(connection)
}

// reset closes a connection with a reset, as when a process is killed.
func reset(connection net.Conn) {
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a close then sends RST
	}
	_ = connection.Close()
}

// late waits, and reports whether the client still waits too.
func late(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}

// answer is an answer that a node should never give.
type answer struct {
	status int
	kind   string // content type
	body   string
}

const page = "<!DOCTYPE html><html><head><title>Service temporarily unavailable</title></head><body><h1>Please try " +
	"again later</h1></body></html>"

// wrongAnswers are answers that overloaded nodes and the proxies in front of them have given.
func wrongAnswers() []answer {
	return []answer{
		{http.StatusInternalServerError, "text/plain", "internal error"},
		{http.StatusTooManyRequests, "application/json", `{"error":"rate limit exceeded"}`},
		{http.StatusBadGateway, "text/html", page},
		{http.StatusOK, "text/html", page},
		{http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":1,"resu`},
		{http.StatusServiceUnavailable, "text/plain", strings.Repeat("overloaded ", 20)},
	}
}

// wrong is a node that gives them in turn.
type wrong struct{ turn atomic.Int64 }

func (f *wrong) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	answers := wrongAnswers()
	a := answers[int(f.turn.Add(1)-1)%len(answers)]
	w.Header().Set("Content-Type", a.kind)
	if a.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client is gone if this fails
}

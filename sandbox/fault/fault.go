// Package fault stands before a node's RPC handler and makes it misbehave for a while, in the ways real nodes do, or
// has it served as hosted providers and load balancers serve theirs.
//
// It owns the kinds of misbehaviour and their clock. It never touches the chain behind: what is paid or mined meanwhile
// is there when the fault ends. Its invariants: a fault ends by itself, without anybody calling again; a layer without
// a fault changes nothing; one fault at a time, the latest.
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

// The troubles: a service can only wait until they are over, or ask another endpoint.
const (
	Down   Kind = "down"   // connections are reset before anything is answered
	Slow   Kind = "slow"   // every answer is right and comes seconds late
	Behind Kind = "behind" // the node knows no block above the one it had when the fault began
	Errors Kind = "errors" // answers are refusals, overload, HTML pages and halves of JSON, in turn
	Spent  Kind = "spent"  // the day's quota is spent: every answer says so
)

// Troubles returns the kinds of trouble.
func Troubles() []Kind { return []Kind{Down, Slow, Behind, Errors, Spent} }

// Kinds returns every kind: troubles and manners.
func Kinds() []Kind { return append(Troubles(), Manners()...) }

// MaxDuration is the longest that a fault may be ordered for.
const MaxDuration = time.Hour

// lateness is how late a slow node answers.
const lateness = 3 * time.Second

// Freezer turns a node's handler into that of a node that stays at the height it has now.
type Freezer func(node http.Handler) (http.Handler, error)

// Layer is what stands before one node. It is safe for concurrent use.
type Layer struct {
	freeze Freezer
	now    func() time.Time

	mu    sync.Mutex
	node  http.Handler
	kind  Kind
	until time.Time
	ill   http.Handler // answers while the fault lasts
}

// New returns a layer without a fault.
func New(freeze Freezer, now func() time.Time) *Layer { return &Layer{freeze: freeze, now: now} }

// Wrap puts the layer before a node. It is called once, before anything else.
func (l *Layer) Wrap(node http.Handler) http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.node = node
	return l
}

// Beside returns another layer before the same node, for another of its endpoints. It follows Wrap.
func (l *Layer) Beside() *Layer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Layer{freeze: l.freeze, now: l.now, node: l.node}
}

// Set begins a fault that ends by itself, and ends the one before. A duration of zero only ends it. The error is a
// mistake of the caller's, or that of asking the node for its height.
func (l *Layer) Set(kind Kind, duration time.Duration) error {
	if !slices.Contains(Kinds(), kind) {
		return fmt.Errorf("there is no fault %q: kinds are %v", kind, Kinds())
	}
	if duration < 0 || duration > MaxDuration {
		return fmt.Errorf("a fault lasts between 0 and %d seconds", MaxDuration/time.Second)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ill, err := l.handler(kind)
	if err != nil {
		return fmt.Errorf("find the height to stay at: %w", err)
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

// Moved says that the node's chain has changed. The nodes that a load balancer has beside it lag behind by such
// changes.
func (l *Layer) Moved() {
	l.mu.Lock()
	ill := l.ill
	l.mu.Unlock()
	if b, is := ill.(*balanced); is {
		b.moved()
	}
}

// Current returns the fault of now and when it ends; the kind is empty without one.
func (l *Layer) Current() (Kind, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kind == "" || !l.now().Before(l.until) {
		return "", time.Time{}
	}
	return l.kind, l.until
}

// ServeHTTP answers as the node does, or as the fault has it.
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
		panic(http.ErrAbortHandler) // a transport that cannot be taken over is cut off by the server instead
	}
	reset(connection)
}

// reset ends a connection: the other end sees it reset, as by a process that was killed.
func reset(connection net.Conn) {
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a close then sends RST
	}
	_ = connection.Close()
}

// late waits, and reports whether the client still does.
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

// answer is something that no node should say.
type answer struct {
	status int
	kind   string // content type
	body   string
}

const page = "<!DOCTYPE html><html><head><title>Service temporarily unavailable</title></head><body><h1>Please try " +
	"again later</h1></body></html>"

// wrongAnswers is what overloaded nodes and the proxies before them have been seen to say.
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

// wrong is a node that says them in turn.
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

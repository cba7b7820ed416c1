// Package fault stands before a node's RPC handler and makes it misbehave for a while, in the ways real nodes do.
//
// It owns the kinds of misbehaviour and their clock. It never touches the chain behind: what is paid or mined meanwhile is
// there when the fault ends. Its invariants: a fault ends by itself, without anybody calling again; a layer without a
// fault changes nothing; one fault at a time, the latest.
package fault

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind names a misbehaviour.
type Kind string

// The kinds.
const (
	Down   Kind = "down"   // connections are reset before anything is answered
	Slow   Kind = "slow"   // every answer is right and comes seconds late
	Behind Kind = "behind" // the node knows no block above the one it had when the fault began
	Errors Kind = "errors" // answers are refusals, overload, HTML pages and halves of JSON, in turn
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Down, Slow, Behind, Errors} }

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

	mu     sync.Mutex
	node   http.Handler
	kind   Kind
	until  time.Time
	behind http.Handler
	turn   int // of the wrong answers
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
	if kind == Behind {
		frozen, err := l.freeze(l.node)
		if err != nil {
			return fmt.Errorf("find the height to stay at: %w", err)
		}
		l.behind = frozen
	}
	l.kind, l.until = kind, l.now().Add(duration)
	return nil
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
	switch kind, _ := l.Current(); kind {
	case Down:
		hangUp(w)
	case Slow:
		if late(r, lateness) {
			l.node.ServeHTTP(w, r)
		}
	case Behind:
		l.behindHandler().ServeHTTP(w, r)
	case Errors:
		l.wrong(w)
	default:
		l.node.ServeHTTP(w, r)
	}
}

func (l *Layer) behindHandler() http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.behind
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

const page = "<!DOCTYPE html><html><head><title>Service temporarily unavailable</title></head><body><h1>Please try again later</h1></body></html>"

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

func (l *Layer) wrong(w http.ResponseWriter) {
	answers := wrongAnswers()
	l.mu.Lock()
	a := answers[l.turn%len(answers)]
	l.turn++
	l.mu.Unlock()
	w.Header().Set("Content-Type", a.kind)
	if a.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client is gone if this fails
}

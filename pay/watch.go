package pay

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// Limits of streams: of one charge, of one client's network, and of this process.
const (
	maxOfToken  = 4
	maxOfClient = 64
	maxStreams  = 4096
)

const (
	lookPause = time.Second
	beats     = 15 // looks between two signs of life
)

// watch wakes streams. One look each second, for all charges that are watched, reads what was recorded about them:
// neither the database nor a follower does more for a thousand payers than for one.
type watch struct {
	changes func(ctx context.Context, tokens []bursar.ID) (charge.Changes, error)
	now     func() time.Time
	sleep   func(ctx context.Context, d time.Duration) bool
	failed  func(err error)

	mu      sync.Mutex
	streams map[*stream]struct{}
	tokens  map[bursar.ID]int
	clients map[netip.Prefix]int
	looking bool
	ctx     context.Context // ends with the handler
	stop    context.CancelFunc
}

// stream is one payer's open page.
type stream struct {
	token  bursar.ID
	client netip.Prefix
	wake   chan struct{} // the charge may have changed
	beat   chan struct{} // it is time for a sign of life

	mu   sync.Mutex
	seen Seen
}

// Seen is what a page was drawn from, as far as it can change.
type Seen struct {
	Record  bursar.InvoiceRecord
	Heights map[bursar.ChainID]uint64 // of the chains whose confirmations are counted
	Turns   time.Time                 // when the page changes by itself; zero: never
}

func newWatch(c Config) *watch {
	w := &watch{changes: c.Changes, now: c.Now, sleep: c.Sleep, streams: map[*stream]struct{}{},
		tokens: map[bursar.ID]int{}, clients: map[netip.Prefix]int{},
		failed: func(err error) { c.Log.Warn("failed to update payer pages", "error", err) }}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

// enter adds a stream; nil is one too many.
func (w *watch) enter(token bursar.ID, client netip.Prefix, seen Seen) *stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil || len(w.streams) >= maxStreams || w.tokens[token] >= maxOfToken ||
		w.clients[client] >= maxOfClient {
		return nil
	}
	s := &stream{token: token, client: client, wake: make(chan struct{}, 1), beat: make(chan struct{}, 1), seen: seen}
	w.streams[s] = struct{}{}
	w.tokens[token]++
	w.clients[client]++
	if !w.looking {
		w.looking = true
		go w.run()
	}
	return s
}

// leave undoes enter.
func (w *watch) leave(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.streams, s)
	if w.tokens[s.token]--; w.tokens[s.token] == 0 {
		delete(w.tokens, s.token)
	}
	if w.clients[s.client]--; w.clients[s.client] == 0 {
		delete(w.clients, s.client)
	}
}

// run looks until nobody watches any more.
func (w *watch) run() {
	for n := 1; w.sleep(w.ctx, lookPause); n++ {
		streams, tokens := w.watched()
		if len(streams) == 0 {
			return
		}
		w.look(streams, tokens, n%beats == 0)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = false
}

// watched returns all streams and the charges that they are of; without any, nobody is looking from then on.
func (w *watch) watched() (streams []*stream, tokens []bursar.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.streams {
		streams = append(streams, s)
	}
	for token := range w.tokens {
		tokens = append(tokens, token)
	}
	w.looking = len(streams) > 0
	return streams, tokens
}

func (w *watch) look(streams []*stream, tokens []bursar.ID, beat bool) {
	ctx, cancel := context.WithTimeout(w.ctx, workTime)
	defer cancel()
	now := w.now()
	changes, err := w.changes(ctx, tokens)
	if err != nil && w.ctx.Err() == nil {
		w.failed(err)
	}
	for _, s := range streams {
		if err == nil && s.outdated(changes, now) {
			hint(s.wake)
		}
		if beat {
			hint(s.beat)
		}
	}
}

// outdated reports whether what a page was drawn from has changed.
func (s *stream) outdated(c charge.Changes, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Records[s.token].Version != s.seen.Record.Version || !s.seen.Turns.IsZero() && !now.Before(s.seen.Turns) {
		return true
	}
	for id, height := range s.seen.Heights {
		if c.Heights[id] != height {
			return true
		}
	}
	return false
}

func (s *stream) drawn(from Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = from
}

// hint wakes; it never blocks.
func hint(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

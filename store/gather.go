package store

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// maxGather is the most keys of one statement of a Gather, and maxReads how many of its statements run at once. beside
// is how many look-ups must wait for each statement that runs before another one runs beside it: few are soon answered
// by the next one, at a fraction of what statements of their own would take from the server.
const (
	maxGather = 100
	maxReads  = 3
	beside    = 8
)

// hangs is how long a look-up waits for the statements that run before another one runs beside them, however few wait:
// one that hangs must not hold up those behind it.
const hangs = 25 * time.Millisecond

// Gather answers look-ups of one kind, those that come at the same time by one statement: while as many statements run
// as may, the next look-ups wait together. A single one waits for nobody, and every look-up is answered by a statement
// that began after it was asked, so that it sees all that was committed before.
type Gather[K comparable, V any] struct {
	db   *DB
	read func(ctx context.Context, tx *Tx, keys []K) (map[K]V, error)

	mu      sync.Mutex
	queue   []*asked[K, V]
	running int
	watched bool // something looks at the queue in a moment
}

type asked[K comparable, V any] struct {
	key   K
	value V
	err   error
	done  chan struct{}
}

// NewGather returns a Gather over read, which makes one statement for all keys, or several as in ReadTogether, and
// returns what it found by key.
func NewGather[K comparable, V any](db *DB,
	read func(ctx context.Context, tx *Tx, keys []K) (map[K]V, error)) *Gather[K, V] {
	return &Gather[K, V]{db: db, read: read}
}

// Find returns what was found for a key, or ErrNotFound. It may make the statement by itself: then it ends when that
// does, which may be a second after the deadline of ctx, or later where ctx is cancelled.
func (g *Gather[K, V]) Find(ctx context.Context, key K) (V, error) {
	a := &asked[K, V]{key: key, done: make(chan struct{})}
	g.mu.Lock()
	g.queue = append(g.queue, a)
	starts := g.running < maxReads && len(g.queue) > g.running*beside
	if starts {
		g.running++
	}
	watches := !starts && !g.watched && g.running < maxReads
	g.watched = g.watched || watches
	g.mu.Unlock()
	// Where it can, it makes the statement by itself: another goroutine would cost a lone look-up a tenth of its time. A
	// simulation decides what runs when, and knows no deadline by the machine's clock.
	alone := starts && !g.db.hooks.scheduled && outlives(ctx)
	if starts && (!alone || g.next()) {
		g.db.hooks.Go(g.drain)
	}
	if watches {
		g.db.hooks.Go(func() { g.watch(a) })
	}
	err := g.db.hooks.Wait(ctx, a.done)
	if err == nil && alone {
		err = ctx.Err() // it may have ended meanwhile
	}
	if err != nil {
		var none V
		return none, err
	}
	return a.value, a.err
}

// watch has another statement run if a look-up still waits after a moment. It looks after one at a time, so that few
// timers run where many look-ups come.
func (g *Gather[K, V]) watch(a *asked[K, V]) {
	for next := a; next != nil; {
		g.db.hooks.Sleep(context.Background(), hangs)
		starts := false
		if next, starts = g.look(next); starts {
			g.drain()
			return
		}
	}
}

// look reports whether another statement starts, since a look-up still waits, and which one to watch next; nil for
// none.
func (g *Gather[K, V]) look(a *asked[K, V]) (next *asked[K, V], starts bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched = false
	if len(g.queue) == 0 || g.running >= maxReads {
		return nil, false
	}
	if slices.Contains(g.queue, a) {
		g.running++
		return nil, true
	}
	g.watched = true
	return g.queue[0], false
}

// drain runs while anything is queued and then ends, so an idle Gather costs nothing.
func (g *Gather[K, V]) drain() {
	for g.next() {
	}
}

// next answers the look-ups that wait, as many as one statement may, and reports whether it is to be called again.
func (g *Gather[K, V]) next() (more bool) {
	runtime.Gosched() // who is about to ask comes along, where many do
	g.mu.Lock()
	n := min(len(g.queue), maxGather)
	list := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.mu.Unlock()
	if n > 0 {
		g.answer(list)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.running--
		return false
	}
	return true
}

// outlives reports whether a context lasts about as long as a statement may take.
func outlives(ctx context.Context) bool {
	deadline, has := ctx.Deadline()
	return !has || time.Until(deadline) > batchTimeout-time.Second
}

func (g *Gather[K, V]) answer(list []*asked[K, V]) {
	seen := map[K]bool{}
	var keys []K
	for _, a := range list {
		if !seen[a.key] {
			seen[a.key] = true
			keys = append(keys, a.key)
		}
	}
	found, err := g.find(keys)
	for _, a := range list {
		var there bool
		if a.value, there = found[a.key]; err != nil {
			a.err = err
		} else if !there {
			a.err = missing{"look up", []any{a.key}}
		}
		close(a.done)
	}
}

// find makes the statement. A panic is an error: it would end the process where a goroutine makes the statement, and
// leave the others waiting where one who asks does.
func (g *Gather[K, V]) find(keys []K) (found map[K]V, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			found, err = nil, fmt.Errorf("a look-up panicked: %v\n%s", cause, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
	defer cancel()
	err = g.db.ReadTogether(ctx, func(tx *Tx) (err error) {
		found, err = g.read(ctx, tx, keys)
		return err
	})
	return found, err
}

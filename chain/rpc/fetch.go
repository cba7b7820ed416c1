package rpc

import (
	"context"
	"sync"

	"github.com/bursar/bursar/panics"
)

// Fetch runs get for 0 to n-1, as many at a time as the latency of the answers calls for, through s and, where s has
// no capacity left, through every other endpoint that is up and has reported at least height top. It is bounded by
// Config.Fetchers, the quotas, and Config.MaxHeld by the size of the last answers.
//
// It returns the results in order up to the first that failed; err is set only when item 0 failed. Item 0 is asked
// through s, and so is an item that failed elsewhere. The caller must check whether the items fit together, such as
// blocks by their parents' hashes: they may come from nodes on different branches. A caller that keeps the items that
// fit and continues from there makes progress with s alone. No get is running any more when Fetch returns.
func Fetch[T any](
	ctx context.Context, s *Session, n int, top uint64, get func(ctx context.Context, s *Session, i int) (T, error),
) ([]T, error) {
	results := make([]T, n)
	done, err := fetch(ctx, s, n, top, func(ctx context.Context, s *Session, i int) (err error) {
		results[i], err = get(ctx, s, i)
		return err
	})
	if done == 0 && n > 0 {
		return nil, err
	}
	return results[:done], nil
}

// fetching is one running Fetch. mu guards all fields after it.
type fetching struct {
	client *Client
	first  *Session
	get    func(ctx context.Context, s *Session, i int) error

	mu      sync.Mutex
	changed *sync.Cond
	next    int   // the first item that was not requested
	again   []int // items that failed elsewhere
	end     int   // items from here on are not wanted
	err     error // of item end, if it failed
	running map[int]context.CancelFunc
	sources []*source
}

// source is an endpoint that a Fetch may use.
type source struct {
	session *Session
	flow    *flow
}

// fetch returns how many items from the first on are done, and the error of the item after them.
func fetch(
	ctx context.Context, s *Session, n int, top uint64, get func(context.Context, *Session, int) error,
) (int, error) {
	f := &fetching{client: s.client, first: s, get: get, end: n, running: map[int]context.CancelFunc{}}
	f.changed = sync.NewCond(&f.mu)
	f.sources = append(f.sources, &source{s, &s.endpoint.flow})
	if n > 1 {
		for _, other := range s.client.pool.others(s.endpoint, top) {
			f.sources = append(f.sources, &source{&Session{client: s.client, endpoint: other.endpoint, epoch: other.epoch},
				&other.flow})
		}
	}
	stop := context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.changed.Broadcast()
	})
	defer stop()
	return f.run(ctx)
}

// run starts the items until all are done or one has failed, and waits for the running ones.
func (f *fetching) run(ctx context.Context) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil && f.left() {
			f.fail(f.lowestOpen(), err)
		}
		if !f.left() && len(f.running) == 0 {
			return f.end, f.err
		}
		if !f.handOut(ctx) {
			f.changed.Wait()
		}
	}
}

// left reports whether an item is still to be requested.
func (f *fetching) left() bool { return len(f.again) > 0 || f.next < f.end }

// lowestOpen returns the first item that is not done and not running.
func (f *fetching) lowestOpen() int {
	lowest := f.next
	for _, i := range f.again {
		lowest = min(lowest, i)
	}
	return lowest
}

// handOut starts the next item at the endpoint that is expected to finish it first. It reports whether it could.
func (f *fetching) handOut(ctx context.Context) bool {
	if !f.left() {
		return false
	}
	item, repeated := f.next, len(f.again) > 0
	if repeated {
		item = f.again[0]
	}
	from := f.choose(repeated || item == 0)
	if from == nil {
		return false
	}
	if repeated {
		f.again = f.again[1:]
	} else {
		f.next++
	}
	from.flow.enter()
	ctx, cancel := context.WithCancel(ctx)
	f.running[item] = cancel
	go f.one(ctx, from, item)
	return true
}

// one gets an item and records the result.
func (f *fetching) one(ctx context.Context, from *source, item int) {
	m := &meter{}
	started := f.client.cfg.Now()
	err := Guarded(func() error { return f.get(withMeter(ctx, m), from.session, item) })
	took := f.client.cfg.Now().Sub(started)

	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	switch unwanted := item >= f.end || ctx.Err() != nil; {
	case err == nil:
		f.client.sizes.note(m.bytes.Load())
		from.flow.leave(took, f.client.mostFetchers())
	case unwanted:
		from.flow.withdraw()
	default:
		from.flow.abort()
	}
	f.running[item]()
	delete(f.running, item)
	switch {
	case err == nil || item >= f.end:
	case from.session != f.first:
		f.again = append(f.again, item)
		f.drop(from)
	default:
		f.fail(item, err)
	}
}

// Guarded turns a panic into an error, for a goroutine that reads answers: nothing above it recovers, and a panic that
// an answer causes must stop its chain and not the process.
func Guarded(get func() error) error { return panics.CatchWithStack("a reader of answers", get) }

// drop stops using an endpoint in this Fetch.
func (f *fetching) drop(failed *source) {
	for i, s := range f.sources {
		if s == failed {
			f.sources = append(f.sources[:i:i], f.sources[i+1:]...)
			return
		}
	}
}

// fail ends the results at an item: those after it are not wanted any more.
func (f *fetching) fail(item int, err error) {
	if item >= f.end {
		return
	}
	f.end, f.err = item, err
	kept := f.again[:0]
	for _, i := range f.again {
		if i < item {
			kept = append(kept, i)
		}
	}
	f.again = kept
	for i, cancel := range f.running {
		if i > item {
			cancel()
		}
	}
}

// choose returns the source that is expected to finish one more item first, among those with capacity, or nil to wait.
// An endpoint other than the session's is used only if it finishes before the session's would start the item.
func (f *fetching) choose(ownOnly bool) *source {
	if len(f.running) >= f.client.sizes.within(f.client.cfg.MaxHeld) && len(f.running) > 0 {
		return nil
	}
	own := f.sources[0]
	// With nothing under way, what waits for another Fetch to leave capacity would wait for ever: only the end of an item
	// of this one wakes it.
	if own.flow.hasCapacity(f.client) || len(f.running) == 0 {
		return own
	}
	if ownOnly {
		return nil
	}
	var best *source
	patience := own.flow.backlog(f.end - f.next)
	for _, s := range f.sources[1:] {
		expected := s.flow.expected()
		if expected < patience && s.flow.hasCapacity(f.client) {
			best, patience = s, expected
		}
	}
	return best
}

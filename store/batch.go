package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// maxBatch bounds how many writes share one transaction.
const maxBatch = 200

// batchTimeout bounds the transaction of a batch, whose callers may have gone.
const batchTimeout = 30 * time.Second

// Result is one item's outcome within a batch that committed.
type Result[Out any] struct {
	Value Out
	Err   error // the item was refused and wrote nothing; the others are not touched by it
}

// Batch gathers concurrent small writes of one kind into one transaction (group commit): while one transaction commits,
// the next callers queue up, and there is no timer, so a single caller waits for nobody.
type Batch[In, Out any] struct {
	db    *DB
	write func(ctx context.Context, tx *Tx, items []In) ([]Result[Out], error)

	mu    sync.Mutex
	queue []*waiting[In, Out]
	busy  bool

	repeats bool
}

type waiting[In, Out any] struct {
	item   In
	result Result[Out]
	done   chan struct{}
}

// NewBatch returns a batch over write, which must return one result for each item, in order. An error of write undoes
// the whole transaction, and so does a panic; the items are then tried in smaller transactions, so that a bad one fails
// alone.
func NewBatch[In, Out any](db *DB,
	write func(ctx context.Context, tx *Tx, items []In) ([]Result[Out], error)) *Batch[In, Out] {
	return &Batch[In, Out]{db: db, write: write}
}

// Repeating has an item tried once more where it is not known whether its commit stands, because the answer was lost.
// write then sees items that are written already, and gives their results again. It returns the batch.
func (b *Batch[In, Out]) Repeating() *Batch[In, Out] {
	b.repeats = true
	return b
}

// Do writes one item and returns when it is committed or refused. When ctx ends first the outcome is unknown: the write
// may still be committed.
func (b *Batch[In, Out]) Do(ctx context.Context, item In) (Out, error) {
	w := &waiting[In, Out]{item: item, done: make(chan struct{})}
	b.enqueue(w)
	if err := b.db.hooks.Wait(ctx, w.done); err != nil {
		var none Out
		return none, err
	}
	return w.result.Value, w.result.Err
}

func (b *Batch[In, Out]) enqueue(w *waiting[In, Out]) {
	b.mu.Lock()
	b.queue = append(b.queue, w)
	starts := !b.busy
	b.busy = true
	b.mu.Unlock()
	if starts {
		b.db.hooks.Go(b.drain)
	}
}

// drain runs while anything is queued and then ends, so an idle batch costs nothing.
func (b *Batch[In, Out]) drain() {
	for {
		runtime.Gosched() // who is about to write comes along, where many do
		items := b.take()
		if items == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
		b.run(ctx, items, false)
		cancel()
	}
}

func (b *Batch[In, Out]) take() []*waiting[In, Out] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.busy = false
		return nil
	}
	n := min(len(b.queue), maxBatch)
	items := b.queue[:n:n]
	b.queue = b.queue[n:]
	return items
}

// run writes items together. Where that fails, it writes each half for itself, so that of many a bad one fails alone
// after a few tries; where it may not have failed, only a Repeating batch does. again says that this is the second time
// after a commit whose outcome is not known.
func (b *Batch[In, Out]) run(ctx context.Context, items []*waiting[In, Out], again bool) {
	err := b.commit(ctx, items)
	half, lost := len(items)/2, errors.Is(err, ErrCommit)
	if err != nil && ctx.Err() == nil && (half > 0 && (!lost || b.repeats) || lost && b.repeats && !again) {
		for _, part := range [][]*waiting[In, Out]{items[:half], items[half:]} {
			if len(part) > 0 {
				b.run(ctx, part, lost)
			}
		}
		return
	}
	for _, w := range items {
		if err != nil {
			w.result = Result[Out]{Err: err}
		}
		close(w.done)
	}
}

func (b *Batch[In, Out]) commit(ctx context.Context, items []*waiting[In, Out]) error {
	inputs := make([]In, len(items))
	for i, w := range items {
		inputs[i] = w.item
	}
	var results []Result[Out]
	err := b.db.Do(ctx, func(tx *Tx) (err error) {
		defer func() { // no request's own guard is above this goroutine: here a panic would end the process
			if cause := recover(); cause != nil {
				err = fmt.Errorf("a batch panicked: %v\n%s", cause, debug.Stack())
			}
		}()
		results, err = b.write(ctx, tx, inputs)
		if err == nil && len(results) != len(inputs) {
			err = fmt.Errorf("a batch of %d gave %d results", len(inputs), len(results))
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, w := range items {
		w.result = results[i]
	}
	return nil
}

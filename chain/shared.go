package chain

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// sharedTime bounds one question of a Shared, whose callers may have gone.
const sharedTime = 10 * time.Second

// Shared is a question to a node whose answer concerns every caller alike, such as a fee rate. Callers that come while
// it is asked share the next answer: each answer was asked for after its caller came, or at most Keep before. The zero
// value is ready.
type Shared[T any] struct {
	Keep time.Duration // for how long an answer is given again; 0: none is kept for later. An error never is

	mu    sync.Mutex
	busy  bool
	next  *sharedAnswer[T]
	kept  T
	until time.Time // kept is given until then
}

type sharedAnswer[T any] struct {
	ask   func(ctx context.Context) (T, error)
	value T
	err   error
	done  chan struct{}
}

// Ask returns an answer of ask, which runs at most once at a time, or the error of a context that ends first.
func (s *Shared[T]) Ask(ctx context.Context, ask func(ctx context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	if time.Now().Before(s.until) {
		defer s.mu.Unlock()
		return s.kept, nil
	}
	if s.next == nil {
		s.next = &sharedAnswer[T]{ask: ask, done: make(chan struct{})}
	}
	answer := s.next
	if !s.busy {
		s.busy = true
		go s.run(context.WithoutCancel(ctx))
	}
	s.mu.Unlock()
	select {
	case <-answer.done:
		return answer.value, answer.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// run asks until nobody waits for an answer.
func (s *Shared[T]) run(ctx context.Context) {
	for {
		s.mu.Lock()
		answer := s.next
		s.next = nil
		s.busy = answer != nil
		s.mu.Unlock()
		if answer == nil {
			return
		}
		began := time.Now()
		answer.value, answer.err = asked(ctx, answer.ask)
		if answer.err == nil && s.Keep > 0 {
			s.mu.Lock()
			s.kept, s.until = answer.value, began.Add(s.Keep)
			s.mu.Unlock()
		}
		close(answer.done)
	}
}

// asked turns a panic into an error: no caller's own guard is above this goroutine.
func asked[T any](ctx context.Context, ask func(ctx context.Context) (T, error)) (value T, err error) {
	ctx, cancel := context.WithTimeout(ctx, sharedTime)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a question to the node panicked: %v", cause)
		}
	}()
	return ask(ctx)
}

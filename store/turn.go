package store

import (
	"context"
	"sync"
)

// Turn is a lock that is held over several transactions of a process: anyone who waits for it waits as the database's
// Hooks do, or until their context ends. The zero value is free.
type Turn struct {
	mu   sync.Mutex
	held chan struct{} // closed when it is free again; nil: it is free
}

// Take waits for a turn and takes it. The error is that of a context which ended before; else release gives the turn
// back.
func (db *DB) Take(ctx context.Context, t *Turn) (release func(), err error) {
	for {
		held := t.try()
		if held == nil {
			return t.release, nil
		}
		if err := db.hooks.Wait(ctx, held); err != nil {
			return nil, err
		}
	}
}

// try takes the turn if it is free and returns nil, else what is closed when it is given back.
func (t *Turn) try() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held != nil {
		return t.held
	}
	t.held = make(chan struct{})
	return nil
}

func (t *Turn) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.held)
	t.held = nil
}

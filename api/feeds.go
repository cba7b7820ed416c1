package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The pace at which the database is asked for events while requests wait for some, and how many may wait.
const (
	feedPace        = 250 * time.Millisecond
	maxWaiting      = 4096 // in this process
	maxWaitingOfOne = 32   // of one account
	feedChunk       = 500  // accounts in one statement
)

// feeds wakes requests that wait for events. However many there are, one statement at a time asks for all of their
// accounts, and none holds a connection of the database while it waits.
type feeds struct {
	db *store.DB

	mu      sync.Mutex
	waiting int
	of      map[bursar.ID]int
	sleeps  map[*sleeper]bool
	runs    bool // watch runs
	stopped bool // nobody waits any more
}

// sleeper is a request that waits for an event of an account with a number above one.
type sleeper struct {
	account bursar.ID
	after   int64
	woken   chan struct{}
}

func newFeeds(db *store.DB) *feeds {
	return &feeds{db: db, of: map[bursar.ID]int{}, sleeps: map[*sleeper]bool{}}
}

// enter counts a request that will wait until leave is called; too many are refused.
func (f *feeds) enter(account bursar.ID) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting >= maxWaiting || f.of[account] >= maxWaitingOfOne {
		return nil, tooMany(time.Second)
	}
	f.waiting++
	f.of[account]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waiting--
		if f.of[account]--; f.of[account] == 0 {
			delete(f.of, account)
		}
	}, nil
}

// await returns true once there may be an event of an account above a number, and false once ctx has ended.
func (f *feeds) await(ctx context.Context, account bursar.ID, after int64) bool {
	s := &sleeper{account, after, make(chan struct{})}
	f.mu.Lock()
	if f.stopped {
		f.mu.Unlock()
		return false
	}
	f.sleeps[s] = true
	starts := !f.runs
	f.runs = true
	f.mu.Unlock()
	if starts {
		go f.watch()
	}
	err := f.db.Wait(ctx, s.woken)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sleeps, s)
	return err == nil && !f.stopped
}

// stop ends every wait, and those to come, without an event.
func (f *feeds) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for s := range f.sleeps {
		delete(f.sleeps, s)
		close(s.woken)
	}
}

// watch asks for new events while anybody waits for some. Where the database is away it asks again.
func (f *feeds) watch() {
	ctx := context.Background()
	for f.db.Sleep(ctx, feedPace) {
		accounts, more := f.accounts()
		if !more {
			return
		}
		for some := range slices.Chunk(accounts, feedChunk) {
			if newest, err := f.newest(ctx, some); err == nil {
				f.wake(newest)
			}
		}
	}
}

// accounts returns those of which events are waited for, and false when watch is to end.
func (f *feeds) accounts() (list []bursar.ID, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[bursar.ID]bool{}
	for s := range f.sleeps {
		if !seen[s.account] {
			seen[s.account] = true
			list = append(list, s.account)
		}
	}
	f.runs = len(list) > 0
	return list, f.runs
}

func (f *feeds) newest(ctx context.Context, accounts []bursar.ID) (newest map[bursar.ID]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err = f.db.Read(ctx, func(tx *store.Tx) error {
		newest, err = tx.Feed().Newest(ctx, accounts)
		return err
	})
	return newest, err
}

func (f *feeds) wake(newest map[bursar.ID]int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.sleeps {
		if newest[s.account] > s.after {
			delete(f.sleeps, s)
			close(s.woken)
		}
	}
}

// Package requestlog keeps what was asked of the API, so that clients and operators see what a program of theirs sent
// and what became of it.
//
// It owns when requests are written and when they are forgotten. Its invariants: no request waits for the log, whatever
// the database does; what is kept is bounded in rows and in time; one account cannot fill the log; what the client
// wrote itself is never in it. Requests that are not in the log are counted in it.
package requestlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The bounds of a log.
const (
	ofAccount = 20      // successes, and as many refusals, of one account that are logged in a pace, by one process
	ofAll     = 500     // requests of all accounts
	maxRows   = 100_000 // in the database
	pace      = time.Second
	cleaning  = time.Minute // how often what is old is removed
	once      = 5_000       // rows that one statement removes
)

// Log gathers the requests of a process and writes them, those of a second in one transaction.
type Log struct {
	DB     *store.DB
	Keep   time.Duration // how long a request is kept
	Logger *slog.Logger

	mu      sync.Mutex
	waiting []store.LoggedRequest
	of      map[counted]int64
}

// counted is what has a bound of its own: a refusal is not left out because of successes before it. Requests without a
// key have the zero ID.
type counted struct {
	account bursar.ID
	refused bool
}

// Note takes a request to be written soon, or leaves it out where there are too many. It never waits.
func (l *Log) Note(r store.LoggedRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[counted]int64{}
	}
	kind := counted{r.Account, r.Code != ""}
	l.of[kind]++
	if l.of[kind] <= ofAccount && len(l.waiting) < ofAll {
		l.waiting = append(l.waiting, r)
	}
}

// take returns what was noted since the last time. The last request of each account says how many of it were left out.
func (l *Log) take() (list []store.LoggedRequest, lost int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, left := l.waiting, l.of
	l.waiting, l.of = nil, nil
	last := map[bursar.ID]int{}
	for i, r := range list {
		left[counted{r.Account, r.Code != ""}]--
		last[r.Account] = i
	}
	for kind, n := range left {
		if at, there := last[kind.account]; there {
			list[at].LeftOut += n
		} else {
			lost += n
		}
	}
	return list, lost
}

// Run writes requests until ctx ends, and then the last ones. A batch that cannot be written is lost.
func (l *Log) Run(ctx context.Context) error {
	write, clean := time.NewTicker(pace), time.NewTicker(cleaning)
	defer write.Stop()
	defer clean.Stop()
	l.tidy(ctx)
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pace)
			defer cancel()
			l.Write(last)
			return ctx.Err()
		case <-write.C:
			l.Write(ctx)
		case <-clean.C:
			l.tidy(ctx)
		}
	}
}

// Write writes what was noted until now.
func (l *Log) Write(ctx context.Context) {
	list, lost := l.take()
	if len(list) > 0 {
		err := l.DB.Do(ctx, func(tx *store.Tx) error { return tx.RequestLog().Add(ctx, list) })
		if err != nil {
			lost += int64(len(list))
			l.Logger.Warn("requests could not be logged", "error", err)
		}
	}
	if lost > 0 {
		l.Logger.Warn("requests are not in the log of requests", "count", lost)
	}
}

// tidy removes what is old, and what is more than the log holds.
func (l *Log) tidy(ctx context.Context) {
	for {
		var removed int64
		err := l.DB.Do(ctx, func(tx *store.Tx) (err error) {
			removed, err = tx.RequestLog().Forget(ctx, tx.Now().Add(-l.Keep), maxRows, once)
			return err
		})
		if err != nil && ctx.Err() == nil {
			l.Logger.Warn("old requests could not be removed from the log", "error", err)
		}
		if err != nil || removed < once {
			return
		}
	}
}

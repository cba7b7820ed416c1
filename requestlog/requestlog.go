// Package requestlog records API requests and their outcomes for clients and operators.
//
// It owns when requests are written and when they are removed. Its invariants: no request waits for the log, whatever
// the database does; the log is bounded in rows and in time; one account cannot fill it; request bodies are never
// logged. Requests that are left out of the log are counted in it.
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
	perAccount      = 20      // successes, and as many refusals, of one account that are logged in a pace, by one process
	perProcess      = 500     // requests of all accounts
	maxRows         = 100_000 // in the database
	pace            = time.Second
	cleanupInterval = time.Minute // how often what is old is removed
	deleteBatch     = 5_000       // rows that one statement removes
)

// Log collects the requests of a process and writes those of each second in one transaction.
type Log struct {
	DB     *store.DB
	Keep   time.Duration // how long a request is kept
	Logger *slog.Logger

	mu      sync.Mutex
	waiting []store.LoggedRequest
	of      map[counted]int64
}

// counted is a group of requests with a limit of its own, so that refusals are not left out because of earlier
// successes. Requests without a key have the zero ID.
type counted struct {
	account bursar.ID
	refused bool
}

// Note queues a request to be written soon, or leaves it out if there are too many. It never waits.
func (l *Log) Note(r store.LoggedRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[counted]int64{}
	}
	kind := counted{r.Account, r.Code != ""}
	l.of[kind]++
	if l.of[kind] <= perAccount && len(l.waiting) < perProcess {
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
	write, clean := time.NewTicker(pace), time.NewTicker(cleanupInterval)
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
			l.Logger.Warn("failed to write the request log", "error", err)
		}
	}
	if lost > 0 {
		l.Logger.Warn("requests left out of the request log", "count", lost)
	}
}

// tidy removes old requests, and those beyond the size of the log.
func (l *Log) tidy(ctx context.Context) {
	for {
		var removed int64
		err := l.DB.Do(ctx, func(tx *store.Tx) (err error) {
			removed, err = tx.RequestLog().Forget(ctx, tx.Now().Add(-l.Keep), maxRows, deleteBatch)
			return err
		})
		if err != nil && ctx.Err() == nil {
			l.Logger.Warn("failed to remove old requests from the request log", "error", err)
		}
		if err != nil || removed < deleteBatch {
			return
		}
	}
}

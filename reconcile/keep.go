package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar/store"
)

// How often a chain is compared: often where one question to a node is enough, else every hour, and less often the more
// addresses there are, so that a provider's quota is not used up by it.
const (
	often     = 10 * time.Minute
	seldom    = time.Hour
	perHour   = 10_000 // addresses that are asked for in an hour
	firstWait = time.Minute
)

// Keep compares a chain again and again for as long as its process leads it.
type Keep struct {
	Reconciler Reconciler
	Log        *slog.Logger

	next time.Time // when the next comparison is due
}

// Run compares until ctx ends.
func (k *Keep) Run(ctx context.Context, _ store.Lease) error {
	id := k.Reconciler.Chain.Capabilities().ID
	return store.Work{Pace: 15 * time.Second, Step: func(ctx context.Context) (bool, error) { return false, k.Step(ctx) },
		Failed: func(failures int, err error) {
			if failures > 1 { // a node that has just let a block go has it again at the next try
				k.Log.Warn("the books cannot be compared with the chain now", "chain", id, "failures", failures, "error", err)
			}
		}}.Run(ctx)
}

// Step compares the chain if that is due by the database's clock.
func (k *Keep) Step(ctx context.Context) error {
	now := k.Reconciler.DB.Now()
	if k.next.IsZero() {
		k.next = now.Add(firstWait) // there is more urgent work after a start
	}
	if now.Before(k.next) {
		return nil
	}
	lines, err := k.Reconciler.Run(ctx)
	if err != nil {
		return err
	}
	addresses := 0
	for _, l := range lines {
		addresses = max(addresses, l.asked)
	}
	k.next = now.Add(interval(addresses))
	return nil
}

// interval is how long to wait after a comparison of so many addresses.
func interval(addresses int) time.Duration {
	if addresses <= basesAtOnce {
		return often
	}
	return seldom * time.Duration(1+addresses/perHour)
}

package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// How often a chain is compared: often if one request to a node is enough, otherwise every hour, and less often the
// more addresses there are, so that it does not use up a provider's quota.
const (
	often     = 10 * time.Minute
	seldom    = time.Hour
	perHour   = 10_000 // addresses requested per hour
	firstWait = time.Minute
)

// Keep compares a chain repeatedly while its process holds the chain lease.
type Keep struct {
	Reconciler Reconciler
	Cold       []bursar.ColdWallet // wallets of the chain whose keys are looked at as well
	Log        *slog.Logger

	next time.Time // when the next comparison is due
}

// Run compares until ctx ends.
func (k *Keep) Run(ctx context.Context, _ store.Lease) error {
	id := k.Reconciler.Chain.Capabilities().ID
	return store.Work{Pace: 15 * time.Second, Step: func(ctx context.Context) (bool, error) { return false, k.Step(ctx) },
		Failed: func(failures int, err error) {
			if failures > 1 { // a node that just lost a block has it again at the next attempt
				k.Log.Warn("comparison of the books with the chain failed", "chain", id, "failures", failures, "error", err)
			}
		}}.Run(ctx)
}

// Step compares the chain if that is due by the database's clock, and checks who may spend from its cold wallets.
func (k *Keep) Step(ctx context.Context) error {
	now := k.Reconciler.DB.Now()
	if k.next.IsZero() {
		k.next = now.Add(firstWait) // other work is more urgent after a start
	}
	if now.Before(k.next) {
		return nil
	}
	// A node that cannot say who may spend is asked again with the next comparison, which must not wait for it.
	if err := k.checkColdKeys(ctx); err != nil {
		k.Log.Warn("keys of cold wallets are not known", "chain", k.Reconciler.Chain.Capabilities().ID, "error", err)
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

// interval returns how long to wait after a comparison of the given number of addresses.
func interval(addresses int) time.Duration {
	if addresses <= basesAtOnce {
		return often
	}
	return seldom * time.Duration(1+addresses/perHour)
}

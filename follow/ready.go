package follow

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// goal is how far the chain must be recorded before anything may be signed under a lease: up to the newest final block
// that any endpoint reported after the lease was taken, and up to what the followed endpoint called the newest block
// then. The database may be older than the chain: a payment that it has forgotten stands in those blocks.
type goal struct {
	token    int64     // of the lease; 0: none was set yet
	recovery int64     // number of the recovery that the chain was in; 0: in none
	began    time.Time // when that recovery began, or began again
	at       time.Time
	final    uint64
	latest   uint64
}

const (
	// goalAge is how long a goal stands that is not reached: an endpoint that reported what is not there delays no longer.
	goalAge = time.Minute
	// goalTime bounds how long endpoints are asked for their heads. The followed one has answered already.
	goalTime = 3 * time.Second
)

// aim sets the goal of a lease by a head that was reported under it. The highest final height counts of what every
// endpoint reports, what the database knew, and what is known outside the database: the followed endpoint may lag.
func (f *Follower) aim(ctx context.Context, lease store.Lease, head chain.Head) {
	if f.recovery.Number > 0 && f.recovery.From < 0 && (f.ready == lease.Token || !f.goal.knows(f.recovery)) {
		f.ready, f.goal = 0, goal{} // a recovery began, or began again, meanwhile: catch up once more
		f.Watch.Forget()
		f.pipe.stop()
	}
	now := f.DB.Now()
	if f.ready == lease.Token || f.goal.token == lease.Token && now.Sub(f.goal.at) < goalAge {
		return
	}
	known := f.known
	if f.KnownFinal != nil {
		known = max(known, f.KnownFinal())
	}
	f.goal = goal{token: lease.Token, at: now, recovery: f.recovery.Number, began: f.recovery.BeganAt,
		latest: head.Latest.Height, final: max(known, head.Final.Height, f.highestFinal(ctx))}
}

// knows reports whether the goal was set since a recovery began.
func (g goal) knows(r store.Recovery) bool { return g.recovery == r.Number && g.began.Equal(r.BeganAt) }

// reached reports whether the chain is recorded up to the goal of a lease: up to the block last, all of it final up to
// a height.
func (g goal) reached(lease store.Lease, head chain.Head, last chain.BlockRef, final uint64) bool {
	return g.token == lease.Token && head.Final.Hash != "" && final >= g.final && last.Height >= g.latest
}

// highestFinal returns the highest final height that an endpoint reports; those that do not answer in time are left
// out.
func (f *Follower) highestFinal(ctx context.Context) (highest uint64) {
	reader, able := f.Chain.(chain.EndpointReader)
	if !able || len(reader.Endpoints()) < 2 {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, goalTime)
	defer cancel()
	endpoints := reader.Endpoints()
	finals := make(chan uint64, len(endpoints))
	for _, e := range endpoints {
		go func() {
			var head chain.Head
			err := Guarded(func() (err error) {
				head, err = reader.HeadOn(ctx, e.Name)
				return err
			})
			if err != nil && ctx.Err() == nil {
				f.Log.Info("endpoint names no final block now", "chain", f.Chain.Capabilities().ID, "endpoint", e.Name,
					"error", err)
			}
			finals <- head.Final.Height
		}()
	}
	for range endpoints {
		select {
		case final := <-finals:
			highest = max(highest, final)
		case <-ctx.Done():
			return highest
		}
	}
	return highest
}

// MayForget reports whether the database may be older than the chain: nobody outside says that it is not, and the
// follower has not caught up yet.
func (f *Follower) MayForget() bool {
	return f.goal.token != 0 && f.ready != f.goal.token && (f.Current == nil || !f.Current())
}

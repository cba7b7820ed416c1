package follow

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// goal is how far the chain must be recorded before anything may be signed under a lease: up to the newest final block
// that any endpoint reported after the lease was acquired, and up to the newest block that the followed endpoint
// reported then. The database may be older than the chain: a payment that it has forgotten is in those blocks.
type goal struct {
	token    int64     // fencing token of the lease; 0: no goal has been set
	recovery int64     // number of the recovery that the chain was in; 0: none
	began    time.Time // when that recovery began, or began again
	at       time.Time
	final    uint64
	latest   uint64
}

const (
	// goalAge is how long a goal that is not reached stays valid: an endpoint that reported a block that does not exist
	// delays no longer than that.
	goalAge = time.Minute
	// goalTime is how long endpoints have to report their heads. The followed endpoint has answered already.
	goalTime = 3 * time.Second
)

// setGoal sets the goal of a lease from a head that was reported under it. The highest final height counts among those
// that every endpoint reports, the database had, and is known outside the database, because the followed endpoint may
// lag.
func (f *Follower) setGoal(ctx context.Context, lease store.Lease, head chain.Head) {
	m := &f.memory
	if m.recovery.Number > 0 && m.recovery.From < 0 && (m.readyToken == lease.Token || !m.goal.knows(m.recovery)) {
		// A recovery began, or began again, since the goal was set: catch up once more.
		m.readyToken, m.goal = 0, goal{}
		f.Watch.Forget()
		f.pipe.stop()
	}
	now := f.DB.Now()
	if m.readyToken == lease.Token || m.goal.token == lease.Token && now.Sub(m.goal.at) < goalAge {
		return
	}
	known := m.recordedFinal
	if f.KnownFinal != nil {
		known = max(known, f.KnownFinal())
	}
	m.goal = goal{token: lease.Token, at: now, recovery: m.recovery.Number, began: m.recovery.BeganAt,
		latest: head.Latest.Height, final: max(known, head.Final.Height, f.highestFinal(ctx))}
}

// knows reports whether the goal was set after a recovery began.
func (g goal) knows(r store.Recovery) bool { return g.recovery == r.Number && g.began.Equal(r.BeganAt) }

// reached reports whether the chain is recorded up to the goal of a lease: up to the block last, all of it final up to
// a height.
func (g goal) reached(lease store.Lease, head chain.Head, last chain.BlockRef, final uint64) bool {
	return g.token == lease.Token && head.Final.Hash != "" && final >= g.final && last.Height >= g.latest
}

// highestFinal returns the highest final height that an endpoint reports; endpoints that do not answer in time are left
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
				f.Log.Info("endpoint reports no final block", "chain", f.Chain.Capabilities().ID, "endpoint", e.Name,
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

// MayForget reports whether the database may be older than the chain: nothing outside the database proves that it is
// not, and the follower has not caught up yet.
func (f *Follower) MayForget() bool {
	return f.memory.goal.token != 0 && f.memory.readyToken != f.memory.goal.token && (f.Current == nil || !f.Current())
}

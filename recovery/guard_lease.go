package recovery

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
)

// BeginLease compares the database with the marks under the chain lease, before the chain's workers run, and records
// what other processes have signed there: a database that loses that later has lost something. end records that the
// lease has ended.
func (g *Guard) BeginLease(ctx context.Context, id bursar.ChainID) (end func(), err error) {
	if err := g.Compare(ctx); err != nil {
		return nil, err
	}
	if err := g.noteSigned(ctx, id); err != nil {
		return nil, err
	}
	g.setLease(id, true)
	return func() { g.setLease(id, false) }, nil
}

func (g *Guard) noteSigned(ctx context.Context, id bursar.ChainID) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	now, err := g.read(ctx)
	if err != nil || now.Signed[string(id)] <= g.Kept().Signed[string(id)] {
		return err
	}
	return g.raise(ctx, marks.State{Signed: map[string]int64{string(id): now.Signed[string(id)]}})
}

func (g *Guard) setLease(id bursar.ChainID, leads bool) {
	g.state.Lock()
	defer g.state.Unlock()
	g.leases[id] = leads
}

// HoldsLease reports whether this process holds the chain lease and has compared the database with the marks since it
// acquired it.
func (g *Guard) HoldsLease(id bursar.ChainID) bool {
	g.state.RLock()
	defer g.state.RUnlock()
	return g.leases[id]
}

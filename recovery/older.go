package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// unrecovered returns the proof that the database is older, while no recovery has begun; "" if there is none.
func (g *Guard) unrecovered() string {
	g.state.RLock()
	defer g.state.RUnlock()
	return g.older
}

func (g *Guard) setOlder(proof string) {
	g.state.Lock()
	defer g.state.Unlock()
	g.older = proof
}

// behind is a database that is older than it was.
type behind struct {
	cause  string
	chains []bursar.ChainID // that have to recover
	word   bool             // an operator declared it: the journal may be incomplete
}

// recover raises the database to the marks, watches the addresses that it skips, records what has to be put back, and
// starts the recovery of chains.
func (g *Guard) recover(ctx context.Context, now store.Marks, b behind) error {
	kept, err := g.Keeper.Load(ctx) // this includes what other processes that share these marks have signed
	if err != nil {
		return err
	}
	g.set(kept)
	if err := g.watchLate(ctx, now, kept); err != nil {
		return err
	}
	gaps, err := g.gaps(now, kept)
	if err != nil {
		return errors.Join(err, g.cannotBegin(ctx, now, kept, gaps, b, err))
	}
	g.Log.Error("the database is older than it was", "cause", b.cause, "chains", b.chains)
	var id store.Identity
	var by marks.State
	err = g.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if by, err = headOf(ctx, tx); err != nil {
			return err
		}
		for _, chain := range b.chains {
			if err := g.begin(ctx, tx, now, kept, b, chain); err != nil {
				return err
			}
		}
		if err := noteLost(ctx, tx, now, kept); err != nil {
			return err
		}
		if err := g.raiseDatabase(ctx, tx, kept, gaps); err != nil {
			return err
		}
		id, err = tx.Settings().Identity(ctx)
		return err
	})
	if err != nil {
		return err
	}
	g.state.Lock()
	clear(g.given)
	g.link = marks.State{}
	g.state.Unlock()
	by.Database = marks.Database{Name: id.Database, System: id.System, Timeline: id.Timeline}
	return g.raise(ctx, by)
}

// skippedTo is the first key index of a family that was certainly not issued.
func skippedTo(now store.Marks, kept marks.State, family bursar.Family) int64 {
	return max(kept.Indexes[string(family)], now.Reserved[string(family)])
}

// gaps returns the addresses that each family skips in a recovery. Families whose addresses cannot be derived here are
// left out, with an error.
func (g *Guard) gaps(now store.Marks, kept marks.State) (map[bursar.Family][]store.GapAddress, error) {
	gaps := map[bursar.Family][]store.GapAddress{}
	var failed error
	for _, family := range g.Families {
		from, to := now.Next[string(family)], skippedTo(now, kept, family)
		if to <= from {
			continue
		}
		skipped, err := g.derive(family, from, to)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("derive the addresses that %s skips: %w", family, err))
			continue
		}
		gaps[family] = skipped
	}
	return gaps, failed
}

// cannotBegin raises an alarm for each chain whose recovery cannot begin, since some addresses cannot be derived, and
// skips the key indexes of the other families: a process with other marks may not have noticed that the database is
// older, and would issue them again. A process of an earlier epoch cannot derive addresses of a later one, and has
// issued none of those.
func (g *Guard) cannotBegin(ctx context.Context, now store.Marks, kept marks.State,
	gaps map[bursar.Family][]store.GapAddress, b behind, why error) error {
	return g.DB.Do(ctx, func(tx *store.Tx) error {
		for _, chain := range b.chains {
			if err := raiseCannotBegin(ctx, tx, chain, b.cause, why); err != nil {
				return err
			}
		}
		for _, family := range g.Families {
			skipped, derived := gaps[family]
			if !derived {
				continue
			}
			if err := skipTo(ctx, tx, family, skippedTo(now, kept, family), skipped); err != nil {
				return err
			}
		}
		return nil
	})
}

// begin starts the recovery of a chain. If the journal explains every signature that the database has lost, nothing is
// waited for.
func (g *Guard) begin(
	ctx context.Context, tx *store.Tx, now store.Marks, kept marks.State, b behind, chain bursar.ChainID,
) error {
	if err := tx.Chains().Ensure(ctx, chain); err != nil {
		return err
	}
	if _, err := tx.Chains().Lock(ctx, chain); err != nil {
		return err
	}
	if !b.word && alone(now, kept) && now.Identity.Database == kept.Database.Name &&
		kept.Complete(string(chain), now.Signed[string(chain)]) {
		return beginJournaled(ctx, tx, chain, b.cause)
	}
	return Begin(ctx, tx, chain, b.cause)
}

// noteLost records what is in the journal and missing from the database.
func noteLost(ctx context.Context, tx *store.Tx, now store.Marks, kept marks.State) error {
	f, err := fatesOf(ctx, tx, kept, now.Signed)
	if err != nil {
		return err
	}
	return noteForgotten(ctx, tx, append(f.lost, f.claimed...), alone(now, kept))
}

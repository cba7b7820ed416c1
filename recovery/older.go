package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// unrecovered returns what is known of an older database while its recovery has not started; nil where there is none.
func (g *Guard) unrecovered() *behind {
	g.state.RLock()
	defer g.state.RUnlock()
	return g.older
}

// notOlder returns the proof that the database is older, as an error, while its recovery has not started.
func (g *Guard) notOlder() error {
	if older := g.unrecovered(); older != nil {
		return fmt.Errorf("its recovery has not started: %w", older)
	}
	return nil
}

func (g *Guard) setOlder(older *behind) {
	g.state.Lock()
	defer g.state.Unlock()
	g.older = older
}

// behind is a database that is older than it was.
type behind struct {
	cause  string
	chains []bursar.ChainID // that have to recover
	word   bool             // an operator declared it: the journal may be incomplete
	noted  bool             // in the database, while the recovery has not started
}

func (b *behind) Error() string { return fmt.Sprintf("%s: %s", ErrBehind, b.cause) }
func (b *behind) Unwrap() error { return ErrBehind }

// recover starts the recovery of chains whose database is older. Until that has succeeded, this process issues and
// signs nothing from memory; where it fails, the others learn of it from the database.
func (g *Guard) recover(ctx context.Context, now store.Marks, b behind) error {
	g.setOlder(&b)
	err := g.begins(ctx, now, b)
	if err == nil || b.word || b.noted || g.unrecovered() == nil {
		return err // the operator gets it, it is noted, or only the marks are not raised yet
	}
	if failed := g.cannotBegin(ctx, now, b, err); failed != nil {
		return errors.Join(err, failed)
	}
	b.noted = true
	g.setOlder(&b)
	return err
}

// begins raises the database to the marks, watches the addresses that it skips, records what has to be put back, and
// starts the recovery of chains.
func (g *Guard) begins(ctx context.Context, now store.Marks, b behind) error {
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
		return err
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
	g.link, g.older = marks.State{}, nil
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

// cannotBegin has every process know of an older database where the recovery cannot begin here: the chains stop, what
// the journal has is noted, and the database says that it was restored, so that a process which can begins the
// recovery. An alarm says why this one cannot.
//
// The key indexes of families whose addresses can be derived are skipped: another process, with marks of its own, may
// not have noticed anything, and would issue them again. A process of an earlier epoch cannot derive addresses of a
// later one, and has issued none of those.
func (g *Guard) cannotBegin(ctx context.Context, now store.Marks, b behind, why error) error {
	kept := g.Kept()
	gaps, _ := g.gaps(now, kept) // of the families that it can; why has the error
	return g.DB.Do(ctx, func(tx *store.Tx) error {
		for _, chain := range b.chains {
			if err := g.begin(ctx, tx, now, kept, b, chain); err != nil {
				return err
			}
			if err := raiseCannotBegin(ctx, tx, chain, b.cause, why); err != nil {
				return err
			}
		}
		if err := noteLost(ctx, tx, now, kept); err != nil {
			return err
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
		return tx.Settings().SetRestored(ctx, "an unknown time: "+b.cause)
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

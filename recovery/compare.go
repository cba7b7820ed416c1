package recovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// check compares the database with the marks, and lets every chain recover that may have been paid on since the database's time.
func (g *Guard) check(ctx context.Context) error {
	kept, given := g.known() // first: what is given out or signed while the database is read is not in what was read
	now, err := g.read(ctx)
	if err != nil {
		return err
	}
	cause, chains := stepBack(now, kept, given), g.Chains
	if cause == "" && moved(now.Identity, kept.Database) {
		cause = fmt.Sprintf("another copy of the database answers: system %s, timeline %s; it was system %s, timeline %s",
			now.Identity.System, now.Identity.Timeline, kept.Database.System, kept.Database.Timeline)
		chains = slices.DeleteFunc(slices.Clone(chains), func(id bursar.ChainID) bool { return g.provenWhole(id, now, kept) })
	}
	if cause != "" && len(chains) > 0 {
		return g.recover(ctx, now, cause, chains)
	}
	if cause != "" {
		g.Log.Warn("the database failed over, and has lost nothing", "cause", cause)
	}
	return g.name(ctx, now, kept)
}

// known returns the marks and what this process gave out, as of now.
func (g *Guard) known() (marks.State, map[bursar.Family]uint32) {
	g.state.RLock()
	defer g.state.RUnlock()
	return g.kept, maps.Clone(g.given)
}

// provenWhole reports whether a copy of the database has lost nothing of a chain: a failover of its cluster loses no commit that
// was acknowledged, or this process alone has signed there, and the copy knows its newest signature. A failover keeps the
// cluster's system identifier; a copy that was loaded from a dump has another.
func (g *Guard) provenWhole(id bursar.ChainID, now store.Marks, kept marks.State) bool {
	if g.SynchronousFailover && now.Identity.System == kept.Database.System {
		return true
	}
	return g.Leads(id) && now.Signed[string(id)] == kept.Signed[string(id)]
}

// stepBack says what proves that the database is older than it was; "" where nothing does.
func stepBack(now store.Marks, kept marks.State, given map[bursar.Family]uint32) string {
	if kept.Database.Name != "" && now.Identity.Database != kept.Database.Name {
		return "the marks are of another database"
	}
	if now.Restored != "" {
		return "the database was restored from a backup at " + now.Restored
	}
	if now.Beat < kept.Beat {
		return fmt.Sprintf("the database has stepped back: it has counted %d looks, %d are known outside it", now.Beat, kept.Beat)
	}
	for id, n := range kept.Signed {
		if now.Signed[id] < n {
			return fmt.Sprintf("the database has stepped back: it knows %d signed transactions of %s, %d are known outside it", now.Signed[id], id, n)
		}
	}
	for family, n := range kept.Indexes {
		if now.Reserved[family] < n {
			return fmt.Sprintf("the database has stepped back: it has reserved key indexes of %s up to %d, %d are known outside it", family, now.Reserved[family], n)
		}
	}
	for family, n := range given {
		if now.Next[string(family)] < int64(n) {
			return fmt.Sprintf("the database has stepped back: its next key index of %s is %d, and %d was given out", family, now.Next[string(family)], n-1)
		}
	}
	return ""
}

// moved reports whether another PostgreSQL server, or another timeline of one, answers.
func moved(now store.Identity, kept marks.Database) bool {
	return kept.System != "" && (now.System != kept.System || now.Timeline != kept.Timeline)
}

// name notes which copy of the database it is, where the marks do not say so.
func (g *Guard) name(ctx context.Context, now store.Marks, kept marks.State) error {
	if known := kept.Database; known.Name != "" && !moved(now.Identity, known) && known.System == now.Identity.System {
		return nil
	}
	var id store.Identity
	err := g.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if err := tx.NameDatabase(ctx, g.Name()); err != nil {
			return err
		}
		if err := tx.KeepMarks(ctx); err != nil {
			return err
		}
		id, err = tx.Identity(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return g.raise(ctx, marks.State{Database: marks.Database{Name: id.Database, System: id.System, Timeline: id.Timeline}})
}

// recover raises the database to the marks, watches what it skips thereby, and lets chains recover.
func (g *Guard) recover(ctx context.Context, now store.Marks, cause string, chains []bursar.ChainID) error {
	kept := g.Kept()
	gaps := map[bursar.Family][]store.GapAddress{}
	for _, family := range g.Families {
		from, to := now.Next[string(family)], max(kept.Indexes[string(family)], now.Reserved[string(family)])
		if to <= from {
			continue
		}
		skipped, err := g.Derive(family, uint32(from), int(to-from))
		if err != nil {
			return fmt.Errorf("derive addresses that are skipped: %w", err)
		}
		gaps[family] = skipped
	}
	g.Log.Error("the database is older than it was", "cause", cause, "chains", chains)
	var id store.Identity
	err := g.DB.Do(ctx, func(tx *store.Tx) (err error) {
		for _, chain := range chains {
			if err := tx.EnsureChain(ctx, chain); err != nil {
				return err
			}
			if _, err := tx.LockChain(ctx, chain); err != nil {
				return err
			}
			if err := Begin(ctx, tx, chain, cause); err != nil {
				return err
			}
		}
		if err := g.raiseDatabase(ctx, tx, kept, gaps); err != nil {
			return err
		}
		id, err = tx.Identity(ctx)
		return err
	})
	if err != nil {
		return err
	}
	g.state.Lock()
	clear(g.given)
	g.state.Unlock()
	return g.raise(ctx, marks.State{Database: marks.Database{Name: id.Database, System: id.System, Timeline: id.Timeline}})
}

// raiseDatabase lifts every number of the database to what the marks say.
func (g *Guard) raiseDatabase(ctx context.Context, tx *store.Tx, kept marks.State, gaps map[bursar.Family][]store.GapAddress) error {
	if err := tx.NameDatabase(ctx, g.Name()); err != nil {
		return err
	}
	if err := tx.KeepMarks(ctx); err != nil {
		return err
	}
	if err := tx.RaiseBeat(ctx, kept.Beat); err != nil {
		return err
	}
	if err := tx.SetRestored(ctx, ""); err != nil { // the chains recover: that is remembered with them
		return err
	}
	for _, id := range g.Chains {
		if err := tx.RaiseSigned(ctx, id, kept.Signed[string(id)]); err != nil {
			return err
		}
	}
	for _, family := range g.Families {
		to := kept.Indexes[string(family)]
		if err := tx.SkipKeyIndexes(ctx, family, to); err != nil {
			return err
		}
		if err := tx.RaiseReserved(ctx, family, to); err != nil {
			return err
		}
		if err := tx.AddGapAddresses(ctx, family, gaps[family]); err != nil {
			return err
		}
	}
	return nil
}

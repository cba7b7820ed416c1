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

// check compares the database with the marks, and starts the recovery of every chain on which payments may have been
// made since the database's time.
func (g *Guard) check(ctx context.Context) error {
	kept, given := g.known() // first: nothing issued or signed during the read is in it
	now, fates, err := g.compare(ctx, kept)
	if err != nil {
		return err
	}
	cause, chains := stepBack(now, kept, given), g.Chains
	if cause == "" {
		if cause, err = g.lostLink(ctx, kept); err != nil {
			return err
		}
	}
	if cause == "" && moved(now.Identity, kept.Database) {
		cause = fmt.Sprintf("another copy of the database answers: system %s, timeline %s; it was system %s, timeline %s",
			now.Identity.System, now.Identity.Timeline, kept.Database.System, kept.Database.Timeline)
		fresh, err := g.Keeper.Load(ctx)
		if err != nil {
			return err
		}
		chains = slices.DeleteFunc(slices.Clone(chains), func(id bursar.ChainID) bool {
			return g.provenWhole(id, now, kept, fresh)
		})
	}
	older := g.unrecovered()
	if older != nil && older.noted && cause == "" && now.Restored == "" { // another process has started the recovery
		g.setOlder(nil)
		older = nil
	}
	if older != nil { // what showed it may be mended, and no recovery has started
		return g.recover(ctx, now, *older)
	}
	if cause != "" && len(chains) > 0 {
		return g.recover(ctx, now, behind{cause: cause, chains: chains})
	}
	if err := g.watchLate(ctx, now, kept); err != nil {
		return err
	}
	if err := g.skipLost(ctx, now, cause != ""); err != nil {
		return err
	}
	g.addEnded(fates.ended)
	g.other = len(now.Keepers) > 0 && !alone(now, kept)
	if cause == "" {
		return g.name(ctx, now, kept)
	}
	g.Log.Warn("the database failed over and has lost no payment", "cause", cause)
	if err := g.noteUnsure(ctx); err != nil {
		return err
	}
	return g.name(ctx, now, kept)
}

// compare reads the database's own state, and the outcomes of the transactions in the journal, at one moment.
func (g *Guard) compare(ctx context.Context, kept marks.State) (now store.Marks, f fates, err error) {
	err = g.DB.View(ctx, func(tx *store.Tx) (err error) {
		if now, err = tx.Counters().Read(ctx); err != nil {
			return err
		}
		f, err = fatesOf(ctx, tx, kept, now.Signed)
		return err
	})
	return now, f, err
}

// alone reports whether no other marks than these were ever used with a database: then nobody else has signed anything.
func alone(now store.Marks, kept marks.State) bool {
	return kept.Keeper != "" && !kept.Others && slices.Equal(now.Keepers, []string{kept.Keeper})
}

// known returns the marks and what this process issued, as of now.
func (g *Guard) known() (marks.State, map[bursar.Family]uint32) {
	g.state.RLock()
	defer g.state.RUnlock()
	return g.kept, maps.Clone(g.given)
}

// provenWhole reports whether a copy of the database has provably lost no payment of a chain: a failover of its cluster
// loses no acknowledged commit; or nobody else has signed there, because this process holds the chain lease or no other
// marks were ever used, and the copy has the newest signature. fresh are the marks as they are now, which other
// processes may have raised. A failover keeps the cluster's system identifier; a copy that was loaded from a dump has
// another.
func (g *Guard) provenWhole(id bursar.ChainID, now store.Marks, kept, fresh marks.State) bool {
	sameCluster, signed := now.Identity.System == kept.Database.System, now.Signed[string(id)]
	if sameCluster && (g.SynchronousFailover || alone(now, fresh) && signed == fresh.Signed[string(id)]) {
		return true
	}
	return g.HoldsLease(id) && signed == kept.Signed[string(id)]
}

// stepBack returns the proof that the database is older than it was; "" if there is none.
func stepBack(now store.Marks, kept marks.State, given map[bursar.Family]uint32) string {
	if kept.Database.Name != "" && now.Identity.Database != kept.Database.Name {
		return "the marks are of another database"
	}
	if now.Restored != "" {
		return "the database was restored from a backup at " + now.Restored
	}
	if now.Beat < kept.Beat {
		return fmt.Sprintf("the database has gone back: it has counted %d looks, the marks have %d", now.Beat,
			kept.Beat)
	}
	for id, n := range kept.Signed {
		if now.Signed[id] < n {
			return fmt.Sprintf("the database has gone back: it has %d signed transactions of %s, the marks have %d",
				now.Signed[id], id, n)
		}
	}
	for family, n := range kept.Indexes {
		if now.Reserved[family] < n {
			return fmt.Sprintf("the database has gone back: it has reserved key indexes of %s up to %d, the marks "+
				"have up to %d", family, now.Reserved[family], n)
		}
	}
	for family, n := range given {
		if now.Next[string(family)] < int64(n) {
			return fmt.Sprintf("the database has gone back: its next key index of %s is %d, but %d was issued", family,
				now.Next[string(family)], n-1)
		}
	}
	return ""
}

// moved reports whether another PostgreSQL server, or another timeline of one, answers.
func moved(now store.Identity, kept marks.Database) bool {
	return kept.System != "" && (now.System != kept.System || now.Timeline != kept.Timeline)
}

// name records which copy of the database it is, if the marks do not have it.
func (g *Guard) name(ctx context.Context, now store.Marks, kept marks.State) error {
	if known := kept.Database; known.Name != "" && !moved(now.Identity, known) && known.System == now.Identity.System {
		return nil
	}
	var id store.Identity
	var by marks.State
	err := g.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Settings().NameDatabase(ctx, g.Name()); err != nil {
			return err
		}
		if err := tx.Counters().Keep(ctx); err != nil {
			return err
		}
		if is, err := has(ctx, tx, kept); err != nil {
			return err
		} else if moved(now.Identity, kept.Database) && kept.Link > 0 && !is {
			if by, err = headOf(ctx, tx); err != nil { // the failover has lost it, but no payment
				return err
			}
		}
		id, err = tx.Settings().Identity(ctx)
		return err
	})
	if err != nil {
		return err
	}
	by.Database = marks.Database{Name: id.Database, System: id.System, Timeline: id.Timeline}
	return g.raise(ctx, by)
}

// noteUnsure makes transactions be signed again, before anything may give them up, if the database cannot say whether
// they were signed: the process that requested the signature may have ended, and the commit that stored the bytes may
// be lost.
func (g *Guard) noteUnsure(ctx context.Context) error {
	kept := g.Kept()
	now, f, err := g.compare(ctx, kept)
	if err != nil || len(f.claimed) == 0 {
		return err
	}
	return g.DB.Do(ctx, func(tx *store.Tx) error { return noteForgotten(ctx, tx, f.claimed, alone(now, kept)) })
}

// nameKeeper names these marks, and records in the database that they are used with it.
func (g *Guard) nameKeeper(ctx context.Context) error {
	if g.Kept().Keeper == "" {
		if err := g.raise(ctx, marks.State{Keeper: g.Name()}); err != nil {
			return err
		}
	}
	return g.DB.Do(ctx, func(tx *store.Tx) error { return tx.Settings().NameKeeper(ctx, g.Kept().Keeper) })
}

package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// Guard compares the database with the marks outside it, and raises them. It is safe for concurrent use.
type Guard struct {
	DB       *store.DB
	Keeper   marks.Keeper
	Chains   []bursar.ChainID
	Families []bursar.Family
	Log      *slog.Logger
	Name     func() string // creates a name for a database that has none
	// Derive returns the addresses of a family from a key index on; none if wallets of the family have no addresses of
	// their own.
	Derive func(family bursar.Family, from uint32, n int) ([]store.GapAddress, error)
	// SynchronousFailover declares that a failover of PostgreSQL loses no acknowledged commit: another timeline alone
	// is then no reason to recover. A number that goes back always is one.
	SynchronousFailover bool

	turn     store.Turn // held while the marks and the database are compared or raised
	state    sync.RWMutex
	kept     marks.State              // what is durable, as far as this process knows
	given    map[bursar.Family]uint32 // the first index above those that this process issued
	taken    map[bursar.Family]uint32 // the same of those that its transactions took, committed or not
	leases   map[bursar.ChainID]bool
	ahead    map[bursar.Family]batch
	wants    chan bursar.Family
	ended    []marks.Ended                 // entries that the next raise removes from the journal
	again    []marks.Entry                 // and those that it puts into it once more
	other    bool                          // other marks are used with the database too
	full     bool                          // the journal was full, or may have been
	link     marks.State                   // the newest audited link of the books, and its hash
	replaced map[marks.Ended][]marks.Entry // what entries replaced in the journal, by their names
	older    *behind                       // an older database whose recovery has not started; nil: none
}

const (
	// least and most bound how many indexes are reserved before they are issued: so many are skipped after a crash or a
	// restore. A family that uses them up before a reservation is lasting old reserves twice as many the next time.
	least = 64
	most  = 4096
	// beat is how often the guard looks at the database.
	beat = 5 * time.Second
)

// ErrBehind is returned if the database is older than it was: it was restored, or promoted without its last commits.
var ErrBehind = errors.New("the database is older than it was")

// ErrUnreserved is returned if key indexes are not reserved yet: call Reserve, and try again.
var ErrUnreserved = errors.New("no key index is reserved")

// Start compares the database with the marks once, before anything is paid or any address issued. The error is
// marks.ErrMissing if the database was used with marks that are missing, or marks.ErrUnusable.
func (g *Guard) Start(ctx context.Context) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	g.given, g.leases, g.wants = map[bursar.Family]uint32{}, map[bursar.ChainID]bool{}, make(chan bursar.Family, 16)
	g.taken = map[bursar.Family]uint32{}
	g.ahead, g.ended, g.again, g.replaced, g.full = map[bursar.Family]batch{}, nil, nil, nil, true
	kept, err := g.Keeper.Load(ctx)
	if errors.Is(err, marks.ErrMissing) {
		kept, err = g.create(ctx, err)
	}
	if err != nil {
		return err
	}
	g.set(kept)
	if err := g.check(ctx); err != nil {
		return err
	}
	if err := g.nameKeeper(ctx); err != nil {
		return err
	}
	if err := g.noteUnsure(ctx); err != nil {
		return err
	}
	if err := g.skip(ctx); err != nil {
		return err
	}
	for _, family := range g.Families {
		if err := g.reserve(ctx, family); err != nil {
			return err
		}
	}
	return g.beat(ctx)
}

// Stop records a clean shutdown: nothing was issued beyond what the database has, so the next start need not skip what
// is reserved.
func (g *Guard) Stop(ctx context.Context) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	if g.unrecovered() != nil {
		return nil // an older database does not know what was issued
	}
	now, err := g.read(ctx)
	if err != nil {
		return err
	}
	return g.raise(ctx, marks.State{Stopped: now.Next})
}

// create creates marks for a database that was never used with any.
func (g *Guard) create(ctx context.Context, missing error) (kept marks.State, err error) {
	now, err := g.read(ctx)
	if err != nil {
		return kept, err
	}
	if now.Restored != "" {
		return g.renew(ctx, now, LostJump)
	}
	if now.Kept {
		return kept,
			fmt.Errorf("%w, but the database was used with them: put the file back; if the database was restored from a "+
				"backup or moved to another machine, "+
				"run `bursar recovery begin`, which creates new marks; for another replica of a database that is current, "+
				"`bursar recovery join`", missing)
	}
	return g.Keeper.Create(ctx, marks.State{Beat: now.Beat, Signed: now.Signed, Indexes: now.Reserved})
}

// Join creates marks for another replica of a database that is current. Existing marks are kept.
func (g *Guard) Join(ctx context.Context) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	now, err := g.read(ctx)
	if err != nil {
		return err
	}
	_, err = g.Keeper.Create(ctx, marks.State{Beat: now.Beat, Signed: now.Signed, Indexes: now.Reserved})
	return err
}

// LostJump is how many key indexes are skipped if the marks are lost, unless an operator gives another number: how many
// were issued since the backup is unknown.
const LostJump = 20_000

// renew creates marks for a database that was used with others. They are above the database's numbers, so that it
// jumps.
func (g *Guard) renew(ctx context.Context, now store.Marks, jump int64) (marks.State, error) {
	s := marks.State{Keeper: g.Name(), Beat: now.Beat, Signed: now.Signed, Indexes: map[string]int64{}}
	for _, family := range g.Families {
		s.Indexes[string(family)] = max(now.Reserved[string(family)], now.Next[string(family)]) + jump
		maps.Copy(s.Indexes, endsIn(now.Reserved, family))
	}
	return g.Keeper.Create(ctx, s)
}

// Begin is for an operator after a restore or if the marks are lost: every key index jumps, and every chain recovers.
// Nothing else may use the database at the same time.
func (g *Guard) Begin(ctx context.Context, cause string, jump int64) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	g.given, g.leases, g.ahead = map[bursar.Family]uint32{}, map[bursar.ChainID]bool{}, map[bursar.Family]batch{}
	g.taken = map[bursar.Family]uint32{}
	now, err := g.read(ctx)
	if err != nil {
		return err
	}
	kept, err := g.renew(ctx, now, jump)
	if err != nil {
		return err
	}
	g.set(kept)
	err = g.DB.Do(ctx, func(tx *store.Tx) error { return tx.Settings().ForgetKeepers(ctx, kept.Keeper) })
	if err != nil {
		return err
	}
	return g.recover(ctx, now, behind{cause: cause, chains: g.Chains, word: true})
}

// Run looks at the database repeatedly until ctx ends: a failover changes it under a running process.
func (g *Guard) Run(ctx context.Context) error {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case family := <-g.wants:
			err = g.Reserve(ctx, family)
		case <-ticker.C:
			err = g.Compare(ctx)
		}
		if err != nil && ctx.Err() == nil {
			g.Log.Warn("the database could not be compared with the marks", "error", err)
		}
	}
}

// Compare compares the database with the marks, and counts the look in both.
func (g *Guard) Compare(ctx context.Context) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	if err := g.check(ctx); err != nil {
		return err
	}
	return g.beat(ctx)
}

// KnownFinal returns the highest final height of a chain in the marks.
func (g *Guard) KnownFinal(id bursar.ChainID) uint64 {
	g.state.RLock()
	defer g.state.RUnlock()
	return uint64(max(g.kept.Final[string(id)], 0))
}

// Kept returns the marks as this process knows them.
func (g *Guard) Kept() marks.State {
	g.state.RLock()
	defer g.state.RUnlock()
	return g.kept
}

func (g *Guard) read(ctx context.Context) (m store.Marks, err error) {
	err = g.DB.View(ctx, func(tx *store.Tx) error {
		m, err = tx.Counters().Read(ctx)
		return err
	})
	return m, err
}

// raise raises the marks, and removes ended entries from the journal. The caller holds the mutex.
func (g *Guard) raise(ctx context.Context, by marks.State) error {
	ended, again := g.takeEnded()
	by.Ended, by.Others = append(by.Ended, ended...), by.Others || g.other
	by.Journal = append(slices.DeleteFunc(slices.Clone(again), func(old marks.Entry) bool {
		return slices.ContainsFunc(by.Journal, func(e marks.Entry) bool { return e.Supersedes(old) })
	}), by.Journal...)
	kept, err := g.Keeper.Raise(ctx, by)
	if err != nil {
		g.addEnded(ended, again...)
		return err
	}
	g.set(kept)
	return nil
}

// beat counts a look, first in the database and then in the marks, and stores the final heights in the marks.
func (g *Guard) beat(ctx context.Context) error {
	by := marks.State{Final: map[string]int64{}}
	err := g.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if by.Beat, err = tx.Counters().CountBeat(ctx); err != nil {
			return err
		}
		if err := g.endFull(ctx, tx); err != nil {
			return err
		}
		if err := g.raiseLink(ctx, tx, &by); err != nil {
			return err
		}
		states, err := tx.Chains().States(ctx)
		for _, s := range states {
			by.Final[string(s.Chain)] = int64(s.Final)
		}
		return err
	})
	if err != nil {
		return err
	}
	if by.Beat <= g.Kept().Beat {
		return fmt.Errorf("%w: the database has counted %d looks, the marks have %d", ErrBehind, by.Beat, g.Kept().Beat)
	}
	return g.raise(ctx, by)
}

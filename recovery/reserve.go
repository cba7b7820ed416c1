package recovery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// Take checks whether key indexes of a family, which a transaction has taken, may be issued: the marks have them, and
// none of them was issued before. It answers from memory. The error is ErrUnreserved: call Reserve, and take again.
// commit records that they were issued, and is called once the transaction is committed.
//
// Nothing is issued by another copy of the database than the one that was compared with the marks, nor by one that is
// known to be older and has not recovered: after a failover that lost commits it would issue again what another
// process, whose memory this one does not have, issued a moment before.
func (g *Guard) Take(answers store.Identity, family bursar.Family, first uint32, n int) (commit func(), err error) {
	g.state.Lock()
	defer g.state.Unlock()
	if moved(answers, g.kept.Database) {
		return nil, fmt.Errorf("%w: %w", ErrUnreserved, errMoved)
	}
	if g.older != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreserved, g.older)
	}
	end := int64(first) + int64(n)
	if end > g.kept.Indexes[string(family)] || first < g.given[family] {
		return nil, fmt.Errorf("%w: %d of %s; reserved are those below %d", ErrUnreserved, end-1, family,
			g.kept.Indexes[string(family)])
	}
	if g.kept.Indexes[string(family)]-end < g.ahead[family].size/2 {
		select {
		case g.wants <- family: // ahead of time, so that no caller has to wait for it
		default:
		}
	}
	g.taken[family] = max(g.taken[family], uint32(end))
	return func() {
		g.state.Lock()
		defer g.state.Unlock()
		g.given[family] = max(g.given[family], uint32(end))
	}, nil
}

// Reserve raises the marks of a family, first in the database and then outside it, so that more indexes may be issued.
// It compares both before, and skips what the database has lost.
func (g *Guard) Reserve(ctx context.Context, family bursar.Family) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	if err := g.check(ctx); err != nil {
		return err
	}
	now, err := g.read(ctx)
	if err != nil || g.Kept().Indexes[string(family)]-now.Next[string(family)] >= max(g.ahead[family].size/2, 1) {
		return err // another caller has reserved them in the meantime
	}
	return g.reserve(ctx, family)
}

// batch is how many indexes are reserved at once, and when that was done last.
type batch struct {
	size int64
	at   time.Time
}

// lasting is how long one batch should last at least. It is longer than the marks take on a slow disk: a batch that is
// used up while the next one is being reserved would otherwise never grow.
const lasting = 10 * time.Second

func (g *Guard) nextBatch(family bursar.Family) int64 {
	g.state.Lock()
	defer g.state.Unlock()
	b, now := g.ahead[family], g.DB.Now()
	switch {
	case b.size == 0 || now.Sub(b.at) > time.Minute:
		b.size = least
	case now.Sub(b.at) < lasting:
		b.size = min(2*b.size, most)
	}
	b.at = now
	g.ahead[family] = b
	return b.size
}

// skip jumps over what is reserved and may have been issued, if the last process did not shut down cleanly: a database
// that lost only such indexes cannot be distinguished from one that lost nothing.
func (g *Guard) skip(ctx context.Context) error {
	now, err := g.read(ctx)
	if err != nil {
		return err
	}
	kept := g.Kept()
	for _, family := range g.Families {
		from, to := now.Next[string(family)], kept.Indexes[string(family)]
		if stopped, known := kept.Stopped[string(family)]; from >= to || known && stopped == from ||
			known && from == 0 && stopped == 0 {
			continue
		}
		if err := g.skipFamily(ctx, family, from, to); err != nil {
			return err
		}
	}
	return nil
}

// skipFamily jumps over key indexes of a family that may have been issued, and watches their addresses.
func (g *Guard) skipFamily(ctx context.Context, family bursar.Family, from, to int64) error {
	gaps, err := g.derive(family, from, to)
	if err != nil {
		return fmt.Errorf("derive skipped addresses: %w", err)
	}
	err = g.DB.Do(ctx, func(tx *store.Tx) error { return skipTo(ctx, tx, family, to, gaps) })
	if err == nil {
		g.Log.Info("skipped key indexes that may have been issued", "family", family, "from", from, "to", to)
	}
	return err
}

// skipLost skips the key indexes that a database may have lost without any other sign: those that transactions of this
// process took, which were committed there and are not known here yet; and where another copy of the database answers,
// all that are reserved, because other processes may have issued them.
func (g *Guard) skipLost(ctx context.Context, now store.Marks, copied bool) error {
	g.state.RLock()
	kept, taken := g.kept, maps.Clone(g.taken)
	g.state.RUnlock()
	for _, family := range g.Families {
		from, to := now.Next[string(family)], int64(taken[family])
		if copied && !g.SynchronousFailover {
			to = max(to, kept.Indexes[string(family)], now.Reserved[string(family)])
		}
		if from >= to {
			continue
		}
		// Most of what was taken is committed since the database was read, or is about to be.
		from, err := g.settled(ctx, family)
		if err != nil {
			return err
		}
		if from >= to {
			continue
		}
		if err := g.skipFamily(ctx, family, from, to); err != nil {
			return err
		}
	}
	return nil
}

// settled returns the next key index of a family once no transaction that takes some is under way.
func (g *Guard) settled(ctx context.Context, family bursar.Family) (next int64, err error) {
	err = g.DB.Do(ctx, func(tx *store.Tx) error {
		free, err := tx.KeyIndexes().Take(ctx, family, 0) // takes none, and waits for the counter's lock
		next = int64(free)
		return err
	})
	return next, err
}

// skipTo skips the key indexes of a family below a given one, and watches the gap addresses that were not issued by
// this database: another replica may have issued some since the gaps were derived.
func skipTo(ctx context.Context, tx *store.Tx, family bursar.Family, to int64, gaps []store.GapAddress) error {
	next, err := tx.KeyIndexes().Take(ctx, family, 0) // takes none, and locks the counter until the transaction ends
	if err != nil {
		return err
	}
	if err := tx.KeyIndexes().Skip(ctx, family, to); err != nil {
		return err
	}
	skipped := slices.DeleteFunc(slices.Clone(gaps), func(gap store.GapAddress) bool { return gap.Index < next })
	return tx.GapAddresses().Add(ctx, family, skipped)
}

// reserve raises the marks of a family, first in the database and then outside it. Marks that reach a later epoch also
// learn from the database where the ones before it ended, which only the process that began the epoch has noted: they
// would not know what to watch if that database was lost.
func (g *Guard) reserve(ctx context.Context, family bursar.Family) error {
	var to int64
	var ends map[string]int64
	size := g.nextBatch(family)
	err := g.DB.Do(ctx, func(tx *store.Tx) error {
		next, err := tx.KeyIndexes().Next(ctx, family)
		if err != nil {
			return err
		}
		to = max(int64(next)+size, g.Kept().Indexes[string(family)])
		if chain.EpochOf(uint32(to)) > 0 {
			now, err := tx.Counters().Read(ctx)
			if err != nil {
				return err
			}
			ends = endsIn(now.Reserved, family)
		}
		return tx.Counters().RaiseReserved(ctx, family, to)
	})
	if err != nil {
		return err
	}
	by := marks.State{Indexes: map[string]int64{string(family): to}}
	maps.Copy(by.Indexes, ends)
	return g.raise(ctx, by)
}

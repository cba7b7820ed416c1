package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// ErrEpochBack is returned if the database has issued key indexes of a later epoch than the keys have.
var ErrEpochBack = errors.New("the database has used a later epoch than the one in force: the seed's files are older " +
	"than the database, or those of another instance")

// BeginEpoch makes all new key indexes of a family those of an epoch. What was reserved before and may have been issued
// is watched, and the marks note where the epoch before ended, before the first index of the new one is issued. It can
// be repeated after a crash. The error is ErrEpochBack.
func (g *Guard) BeginEpoch(ctx context.Context, family bursar.Family, e chain.Epoch) error {
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	if err := g.check(ctx); err != nil {
		return err
	}
	now, err := g.read(ctx)
	if err != nil {
		return err
	}
	next := now.Next[string(family)]
	if due, err := EpochDue(uint32(next), e); err != nil || !due {
		return err
	}
	name := endOf(family, chain.EpochOf(uint32(next)))
	end := max(next, g.Kept().Indexes[string(family)], now.Reserved[string(family)])
	err = g.DB.Do(ctx, func(tx *store.Tx) error { return tx.Counters().RaiseReserved(ctx, bursar.Family(name), end) })
	if err != nil {
		return err
	}
	if err := g.raise(ctx, marks.State{Indexes: map[string]int64{name: end}}); err != nil {
		return err
	}
	if err := g.skipFamily(ctx, family, next, int64(e.First())); err != nil {
		return err
	}
	return g.reserve(ctx, family)
}

// EpochDue reports whether a family whose next key index this is has yet to begin an epoch. The error is ErrEpochBack.
func EpochDue(next uint32, e chain.Epoch) (bool, error) {
	switch at := chain.EpochOf(next); {
	case at > e:
		return false, fmt.Errorf("%w: epoch %d, and the keys are of epoch %d", ErrEpochBack, at, e)
	default:
		return at < e, nil
	}
}

// endOf is the name under which the marks note where a family's indexes of an epoch ended.
func endOf(family bursar.Family, e chain.Epoch) string { return fmt.Sprintf("%s@%d", family, e) }

// isEnd reports whether a name of the marks' indexes is one of endOf.
func isEnd(name string) bool { return strings.Contains(name, "@") }

// endsIn returns the ends of a family's epochs among names of reserved indexes.
func endsIn(reserved map[string]int64, family bursar.Family) map[string]int64 {
	ends := map[string]int64{}
	for name, end := range reserved {
		if strings.HasPrefix(name, string(family)+"@") {
			ends[name] = end
		}
	}
	return ends
}

// lateEnds returns, by the epoch of a family, up to which index the marks know that some may have been issued, for each
// epoch that the database has left and whose end it knows to be lower: another process, which has other marks, began
// the next epoch with a database that had lost these indexes, or while they were reserved.
func lateEnds(now store.Marks, kept marks.State, family bursar.Family) map[chain.Epoch]int64 {
	late := map[chain.Epoch]int64{}
	last := kept.Indexes[string(family)]
	for e := range chain.EpochOf(uint32(now.Next[string(family)])) {
		end := kept.Indexes[endOf(family, e)]
		if last > int64(e.First()) && last < int64((e+1).First()) {
			end = max(end, last)
		}
		if end > max(now.Reserved[endOf(family, e)], int64(e.First())) {
			late[e] = end
		}
	}
	return late
}

// watchLate watches the addresses of lateEnds, and raises the ends of the epochs in the database: its key indexes are
// beyond them, so that nothing else would.
func (g *Guard) watchLate(ctx context.Context, now store.Marks, kept marks.State) error {
	for _, family := range g.Families {
		late := lateEnds(now, kept, family)
		for _, e := range slices.Sorted(maps.Keys(late)) {
			from := max(now.Reserved[endOf(family, e)], int64(e.First()))
			if err := g.watchFrom(ctx, family, e, from, late[e]); err != nil {
				return err
			}
			g.Log.Warn("key indexes of an earlier epoch may have been issued that this database does not know",
				"family", family, "epoch", e, "from", from, "to", late[e])
		}
	}
	return nil
}

// watchFrom watches the addresses of an epoch from one key index to another that belong to no wallet, and notes that
// the epoch ended there.
func (g *Guard) watchFrom(ctx context.Context, family bursar.Family, e chain.Epoch, from, to int64) error {
	gaps, err := g.Derive(family, uint32(from), int(to-from))
	if err != nil {
		return fmt.Errorf("derive addresses of epoch %d: %w", e, err)
	}
	addresses := make([]bursar.Address, len(gaps))
	for i, gap := range gaps {
		addresses[i] = bursar.Address{Base: gap.Base}
	}
	return g.DB.Do(ctx, func(tx *store.Tx) error {
		wallets, err := tx.Wallets().ByAddresses(ctx, family, addresses)
		if err != nil {
			return err
		}
		unknown := slices.DeleteFunc(slices.Clone(gaps), func(gap store.GapAddress) bool {
			_, is := wallets[bursar.Address{Base: gap.Base}]
			return is
		})
		if err := tx.GapAddresses().Add(ctx, family, unknown); err != nil {
			return err
		}
		return tx.Counters().RaiseReserved(ctx, bursar.Family(endOf(family, e)), to)
	})
}

// derive returns the addresses from one key index of a family to another. Between two epochs it leaves out what no
// index ever reached.
func (g *Guard) derive(family bursar.Family, from, to int64) (gaps []store.GapAddress, err error) {
	for from < to {
		e := chain.EpochOf(uint32(from))
		end, next := to, to
		if first := int64((e + 1).First()); first <= to {
			end, next = min(max(g.Kept().Indexes[endOf(family, e)], from), first), first
		}
		if end > from {
			some, err := g.Derive(family, uint32(from), int(end-from))
			if err != nil {
				return nil, err
			}
			gaps = append(gaps, some...)
		}
		from = next
	}
	return gaps, nil
}

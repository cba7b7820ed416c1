package follow

import (
	"context"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Addresses are the addresses of every wallet of a family, in memory. The chains of a family in one process share them.
//
// They are read as hashes, eight bytes each, that the database keeps in parts; only wallets behind the last whole part
// are read one by one. A set is replaced as a whole: while another one is read, because the database has stepped back,
// what the one before has still counts, so that a block which is searched at the same time misses nothing.
type Addresses struct {
	db     *store.DB
	family bursar.Family

	turn   store.Turn // one reads at a time; guards the following
	newest int64      // the wallet number up to which they are complete
	parts  int64      // how many parts the database has and are read
	whole  int64      // how many parts it could have
	gaps   int64      // the gap address up to which they are complete

	mu       sync.RWMutex
	set      *addressSet
	before   *addressSet // the last complete one, until set is complete
	complete bool        // set has had everything once
	stale    bool
	times    int // how often they were read from the beginning
}

// NewAddresses returns the addresses of a family's wallets, none of which is read yet.
func NewAddresses(db *store.DB, family bursar.Family) *Addresses {
	return &Addresses{db: db, family: family, set: newAddressSet(firstLayer)}
}

// forget has everything read again.
func (a *Addresses) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stale = true
}

// has reports whether a hash is that of an address.
func (a *Addresses) has(hash uint64) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.set.has(hash) || a.before != nil && a.before.has(hash)
}

// hasAny calls found with the index of each hash that is that of an address, or for which also says so.
func (a *Addresses) hasAny(hashes []uint64, also func(hash uint64) bool, found func(i int)) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	a.set.fetch(hashes)
	if a.before != nil {
		a.before.fetch(hashes)
	}
	for i, hash := range hashes {
		if a.set.has(hash) || a.before != nil && a.before.has(hash) || also(hash) {
			found(i)
		}
	}
}

// expect prepares for a number of addresses, if there is none yet.
func (a *Addresses) expect(count int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set.expect(count)
}

func (a *Addresses) add(hashes ...uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, hash := range hashes {
		a.set.add(hash)
	}
}

// read reads what was committed since the last call. Where it reports more, keep must be called, and read again. The
// caller has the turn.
func (a *Addresses) read(ctx context.Context, tx *store.Tx) (more bool, err error) {
	newest, err := tx.Wallets().Newest(ctx)
	if err != nil {
		return false, err
	}
	if a.steppedBack(newest) {
		a.clear()
	}
	a.whole = newest / store.WatchedPart
	if a.parts < a.whole && a.newest == a.parts*store.WatchedPart {
		if err := a.readParts(ctx, tx); err != nil {
			return false, err
		}
	}
	if a.parts < a.whole {
		return true, nil
	}
	add := func(base string) { a.add(store.FoldedHash(base)) }
	err = tx.Wallets().EachWatched(ctx, a.family, a.newest, newest, add, func(upTo int64) { a.newest = upTo })
	if err != nil {
		return false, err
	}
	return false, a.readGaps(ctx, tx)
}

// readParts reads the parts that the database has, up to the whole ones.
func (a *Addresses) readParts(ctx context.Context, tx *store.Tx) error {
	count, err := tx.Wallets().WatchedCount(ctx, a.family)
	if err != nil {
		return err
	}
	a.expect(count)
	return tx.Wallets().EachWatchedPart(ctx, a.family, a.parts, func(part int64, hashes []uint64) {
		if part < a.whole {
			a.add(hashes...)
			a.parts, a.newest = part+1, (part+1)*store.WatchedPart
		}
	})
}

// readGaps reads addresses that may have been given out before the database was lost.
func (a *Addresses) readGaps(ctx context.Context, tx *store.Tx) error {
	gaps, err := tx.GapAddresses().After(ctx, a.family, a.gaps)
	if err != nil {
		return err
	}
	for _, g := range gaps {
		a.add(store.FoldedHash(g.Base))
		a.gaps = g.Number
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.complete, a.before = true, nil
	return nil
}

// keep writes the next part, which all processes read from then on. The caller has the turn.
func (a *Addresses) keep(ctx context.Context) error {
	var hashes []uint64
	var whole bool
	err := a.db.Do(ctx, func(tx *store.Tx) (err error) {
		hashes, whole, err = tx.Wallets().KeepWatchedPart(ctx, a.family, a.parts)
		return err
	})
	if err != nil || !whole { // not whole: the database has stepped back, which read notices
		return err
	}
	a.take(hashes)
	return nil
}

// take adds the next part. The first one says how many addresses those that are missing will bring, if each has as
// many.
func (a *Addresses) take(hashes []uint64) {
	a.expect(int64(len(hashes)) * (a.whole - a.parts))
	a.add(hashes...)
	a.parts++
	a.newest = max(a.newest, a.parts*store.WatchedPart)
}

// steppedBack reports whether numbers that were read may be given out again.
func (a *Addresses) steppedBack(newest int64) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.stale || newest < a.newest
}

func (a *Addresses) clear() {
	a.newest, a.parts, a.gaps = 0, 0, 0
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete {
		a.before = a.set
	}
	a.set, a.complete, a.stale = newAddressSet(firstLayer), false, false
	a.times++
}

// started returns how often they were read from the beginning.
func (a *Addresses) started() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.times
}

package recovery_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An epoch begins at its first index, once; what may have been issued before is watched, and nothing between.
func TestAnEpochBeginsAtItsFirstIndex(t *testing.T) {
	p := newPost(t)
	p.derivesFew()
	start(t, p.Guard)
	_, err := p.give()
	p.need(err)
	for range 2 {
		p.need(p.BeginEpoch(ctx, "fam", 1))
	}
	first := chain.Epoch(1).First()
	for want := first; want < first+2; want++ {
		if got, err := p.give(); err != nil || got != want {
			t.Errorf("the next index is %d, %v; want %d", got, err, want)
		}
	}
	if err := p.BeginEpoch(ctx, "fam", 0); !errors.Is(err, recovery.ErrEpochBack) {
		t.Errorf("back to epoch 0: got %v, want %v", err, recovery.ErrEpochBack)
	}
	start(t, p.Guard) // after a crash
	if got, err := p.give(); err != nil || chain.EpochOf(got) != 1 {
		t.Errorf("after a crash the next index is %d, %v; want one of epoch 1", got, err)
	}
}

// A database from before the rotation learns of both epochs from the marks.
func TestADatabaseFromBeforeARotation(t *testing.T) {
	p := newPost(t)
	p.derivesFew()
	start(t, p.Guard)
	for range 3 {
		_, err := p.give()
		p.need(err)
	}
	p.need(p.BeginEpoch(ctx, "fam", 1))
	late, err := p.give()
	p.need(err)
	p.over(storetest.SQLite(t))
	p.derivesFew()
	p.need(p.DB.Do(ctx, func(tx *store.Tx) error { return tx.Counters().Keep(ctx) }))
	start(t, p.Guard)
	watched := map[uint32]bool{}
	p.do(func(tx *store.Tx) error {
		gaps, err := tx.GapAddresses().After(ctx, "fam", 0)
		for _, g := range gaps {
			watched[g.Index] = true
		}
		return err
	})
	for _, index := range []uint32{0, 1, 2, late} {
		if !watched[index] {
			t.Errorf("the address at index %d, which was given out, is not watched", index)
		}
	}
	if next, err := p.give(); err != nil || next <= late || chain.EpochOf(next) != 1 {
		t.Errorf("the next index is %d, %v; want one of epoch 1 after %d", next, err, late)
	}
}

// Another process, with marks of its own, begins an epoch. Marks that reach it later know where the one before ended:
// a database from before it learns from them alone what may have been issued then.
func TestMarksThatReachAnEpochKnowWhereTheLastOneEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func() string) {
		url := fresh()
		p := &post{T: t, file: filepath.Join(t.TempDir(), "seed.marks"), clock: clocktest.New()}
		p.over(url)
		p.derivesFew()
		start(t, p.Guard)
		given, err := p.give()
		p.need(err)
		other := &post{T: t, file: filepath.Join(t.TempDir(), "seed.marks"), clock: p.clock}
		other.over(url)
		other.derivesFew()
		p.need(other.Join(ctx))
		start(t, other.Guard)
		p.need(other.BeginEpoch(ctx, "fam", 1))
		p.need(p.Reserve(ctx, "fam"))
		p.over(fresh())
		p.derivesFew()
		p.need(p.DB.Do(ctx, func(tx *store.Tx) error { return tx.Counters().Keep(ctx) }))
		start(t, p.Guard)
		if !p.watches(given) {
			t.Errorf("the address at index %d, which was given out, is not watched", given)
		}
	})
}

// A database that has lost key indexes begins an epoch by a process whose marks do not know them either. The marks of
// the process that issued them make it watch them, although its own next key index is far beyond.
func TestIndexesOfTheLastEpochThatOtherMarksKnowAreWatched(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func() string) {
		p := &post{T: t, file: filepath.Join(t.TempDir(), "seed.marks"), clock: clocktest.New()}
		p.over(fresh())
		p.derivesFew()
		start(t, p.Guard)
		given := uint32(0)
		for given < 100 { // more than a process reserves when it starts
			p.need(p.Reserve(ctx, "fam"))
			var err error
			given, err = p.give()
			p.need(err)
		}
		url := fresh()
		other := &post{T: t, file: filepath.Join(t.TempDir(), "seed.marks"), clock: p.clock}
		other.over(url)
		other.derivesFew()
		start(t, other.Guard)
		p.need(other.BeginEpoch(ctx, "fam", 1))
		if other.watches(given) {
			t.Fatalf("the address at index %d is watched before anybody knows of it", given)
		}
		p.over(url)
		p.derivesFew()
		start(t, p.Guard)
		if !p.watches(given) {
			t.Errorf("the address at index %d, which was given out, is not watched", given)
		}
		for range 2 { // what is known is not looked for again
			p.Derive = func(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
				if chain.EpochOf(from) == 0 {
					t.Errorf("%d addresses from %d on are derived again", n, from)
				}
				return nil, nil
			}
			p.need(p.Compare(ctx))
			p.need(other.Compare(ctx))
		}
	})
}

// onBoth runs a test on SQLite and, where it is tested, on PostgreSQL. fresh returns the URL of an empty database.
func onBoth(t *testing.T, test func(t *testing.T, fresh func() string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, func() string { return storetest.SQLite(t) }) })
	t.Run("postgres", func(t *testing.T) {
		if testing.Short() {
			t.Skip("PostgreSQL is left out by -short")
		}
		test(t, func() string { return storetest.Postgres(t) })
	})
}

// watches reports whether the address at a key index is one that the database watches for nobody.
func (p *post) watches(index uint32) (is bool) {
	p.Helper()
	p.do(func(tx *store.Tx) error {
		gaps, err := tx.GapAddresses().After(ctx, "fam", 0)
		is = slices.ContainsFunc(gaps, func(g store.GapAddress) bool { return g.Index == index })
		return err
	})
	return is
}

// derivesFew fails where more addresses are derived than may have been given out.
func (p *post) derivesFew() {
	derive := p.Derive
	p.Derive = func(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
		if n > 1000 {
			p.Errorf("%d addresses are derived from %d on, want few", n, from)
			n = 1
		}
		return derive(family, from, n)
	}
}

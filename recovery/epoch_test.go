package recovery_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
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

package recovery_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// A key index that another replica issues while the gap after a crash, or after a step back, is derived is a customer's
// address, and is not watched as a gap.
func TestAnIndexIssuedInTheMeantimeIsNoGap(t *testing.T) {
	for name, behind := range map[string]bool{"a crash": false, "a step back": true} {
		t.Run(name, func(t *testing.T) {
			p := newPost(t)
			start(t, p.Guard)
			for range 3 {
				_, err := p.give()
				p.need(err)
			}
			if behind {
				_, err := p.Keeper.Raise(ctx, marks.State{Beat: 1000})
				p.need(err)
			}
			derive, given := p.Derive, uint32(0)
			p.Derive = func(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
				if given == 0 {
					p.need(p.base.Do(ctx, func(tx *store.Tx) (err error) {
						given, err = tx.KeyIndexes().Take(ctx, family, 1)
						return err
					}))
				}
				return derive(family, from, n)
			}
			start(t, p.Guard)
			if given != 3 || recovering(t, p.DB) != behind {
				t.Fatalf("index %d was issued in the meantime, recovering are: %v, want 3 and %v",
					given, recovering(t, p.DB), behind)
			}
			var gaps []store.GapAddress
			p.need(p.DB.View(ctx, func(tx *store.Tx) (err error) {
				gaps, err = tx.GapAddresses().After(ctx, "fam", 0)
				return err
			}))
			if len(gaps) != 60 || gaps[0].Index != 4 {
				t.Errorf("%d gaps begin with %+v, want 60 of them and 4", len(gaps), gaps[0])
			}
		})
	}
}

// Indexes that this process issues while the database is compared with the marks are not lost: nothing is derived for
// them, which under load took longer than the comparison.
func TestIndexesIssuedDuringAComparisonAreNotTakenForLost(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	derived, issued := 0, false
	derive, base := p.Derive, p.base
	p.Derive = func(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
		derived += n
		return derive(family, from, n)
	}
	p.DB = base.As(p.clock.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
		if at == store.Ended && !issued { // the database was read
			issued = true
			p.DB = base.As(p.clock.Now, store.Hooks{})
			_, err := p.give()
			return err
		}
		return nil
	}})
	p.need(p.Reserve(ctx, "fam"))
	if !issued || derived != 0 {
		t.Errorf("an index was issued: %v, and %d addresses were derived, want true and 0", issued, derived)
	}
	if index, err := p.give(); err != nil || index != 1 {
		t.Errorf("the next index is %d, %v, want 1", index, err)
	}
}

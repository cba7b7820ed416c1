package recovery_test

import (
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
				t.Errorf("%d gaps begin with %+v", len(gaps), gaps[0])
			}
		})
	}
}

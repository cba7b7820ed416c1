package sweep_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// slowChain is a chain whose answer to Holdings arrives after something else has happened.
type slowChain struct {
	*sim.Chain
	meanwhile func()
}

func (c *slowChain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	amounts, err := c.Chain.Holdings(ctx, bases, contract, at)
	if c.meanwhile != nil {
		c.meanwhile()
		c.meanwhile = nil
	}
	return amounts, err
}

// What an old hot wallet held before its sweep became final is not noted after that: it is not there any more, and
// would be swept a second time.
func TestWhatAnOldHotWalletHeldIsNotNotedLate(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Blocks(8)
		before := r.Hot
		r.Rotate()
		c.Advance(2 * time.Minute)
		r.Step() // asks, and requests the sweep
		r.Step() // sends it
		if open := r.Open(); len(open) != 1 || open[0].Base != before.Base {
			t.Fatalf("%d transactions are open, want the sweep of the old hot wallet alone", len(open))
		}
		c.Advance(2 * time.Minute)
		slow := &slowChain{Chain: r.Chain, meanwhile: func() {
			r.Chain.Mine(8)
			for range 2 {
				for more, err := true, error(nil); more; {
					more, err = r.Follower.Step(t.Context(), r.Lease)
					r.Must(err)
				}
				r.Must(r.Sender.Step(t.Context(), r.Lease))
			}
		}}
		r.Sweeper.Chain = slow
		r.Must(r.Sweeper.Step(t.Context(), r.Lease))
		r.Sweeper.Chain = r.Chain
		if slow.meanwhile != nil {
			t.Fatal("the chain was not asked, want what old hot wallets hold asked of it")
		}
		r.View(func(tx *store.Tx) error {
			h, err := tx.Holdings().Current(t.Context(), r.Chain.Capabilities().ID, before.Base, "")
			if !h.Amount.Less(bursartest.UnspentFee) {
				t.Errorf("after its sweep the old hot wallet is noted with %s, want what is there", h.Amount)
			}
			return err
		})
		if open := r.Open(); len(open) != 0 {
			t.Errorf("%d transactions are open, want no second sweep", len(open))
		}
		c.Advance(2 * time.Minute)
		r.Blocks(2)
		r.Must(r.Audit())
	})
}

// lateChain is a chain of which a node answers that knows fewer final blocks than one that answered before.
type lateChain struct {
	*sim.Chain
	final chain.BlockRef
}

func (c *lateChain) Head(ctx context.Context) (chain.Head, error) {
	head, err := c.Chain.Head(ctx)
	head.Final = c.final
	return head, err
}

// Another node may take a lower block for the newest final one than the last did, and the recorded final height goes
// back with it. What the old hot wallet held in that block, before its sweep, is not noted either.
func TestWhatAnOldHotWalletHeldIsNotNotedOfALateNode(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Blocks(8)
		before := r.Hot
		earlier, err := r.Chain.Head(t.Context())
		r.Must(err)
		r.Rotate()
		for range 2 {
			c.Advance(2 * time.Minute)
			r.Blocks(8)
		}
		if open := r.Open(); len(open) != 0 {
			t.Fatalf("%d transactions are open, want the sweep of the old hot wallet settled", len(open))
		}
		late := &lateChain{r.Chain, earlier.Final}
		r.Follower.Chain, r.Sweeper.Chain = late, late
		c.Advance(2 * time.Minute)
		_, err = r.Follower.Step(t.Context(), r.Lease)
		r.Must(err)
		r.View(func(tx *store.Tx) error {
			state, err := tx.Chains().State(t.Context(), r.Chain.Capabilities().ID)
			if state.Final != earlier.Final.Height {
				t.Errorf("the final height is %d, want %d as the late node says", state.Final, earlier.Final.Height)
			}
			return err
		})
		r.Must(r.Sweeper.Step(t.Context(), r.Lease))
		r.View(func(tx *store.Tx) error {
			h, err := tx.Holdings().Current(t.Context(), r.Chain.Capabilities().ID, before.Base, "")
			if !h.Amount.Less(bursartest.UnspentFee) {
				t.Errorf("after its sweep the old hot wallet is noted with %s, want what is there", h.Amount)
			}
			return err
		})
		if open := r.Open(); len(open) != 0 {
			t.Errorf("%d transactions are open, want no second sweep", len(open))
		}
	})
}

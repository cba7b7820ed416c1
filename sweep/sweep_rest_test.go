package sweep_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// A sweep that is built while the fee is above its amount, or for which a backend that is behind reports no funds, is
// not made then. Its address rests, and is swept later without another deposit.
func TestASweepThatCannotBeMadeNowIsMadeLater(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 10_000_000)
		r.Chain.Mine(2)
		r.Step() // credited, and a sweep is requested at the current fee
		if len(r.Open()) != 1 {
			t.Fatalf("open are %+v, want 1 of them", r.Open())
		}
		r.Chain.SetRate(1000)
		r.Blocks(1)
		r.Chain.SetRate(1)
		if len(r.Open()) != 0 {
			t.Fatalf("open are %+v, want none", r.Open())
		}
		r.Blocks(5)
		if len(r.Open()) != 0 {
			t.Errorf("it does not rest: open are %+v", r.Open())
		}
		c.Advance(2 * time.Hour)
		r.Blocks(5)
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursartest.UnspentFee) {
			t.Errorf("%s stay at the deposit address for ever", got)
		}
	})
}

// The next deposit ends the rest.
func TestADepositEndsARest(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, _ *bursartest.Clock) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 10_000_000)
		r.Chain.Mine(2)
		r.Step()
		r.Chain.SetRate(1000)
		r.Blocks(1)
		r.Chain.SetRate(1)
		r.Pay(w.Address, 10_000_000)
		r.Blocks(8)
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursartest.UnspentFee) {
			t.Errorf("%s stay at the deposit address", got)
		}
	})
}

// An address that the final block shows empty, against the books, is tried once and not again before its next deposit.
func TestAnEmptyAddressIsNotDueAgain(t *testing.T) {
	bursartest.OnClock(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		token := r.WithToken()
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		w := r.WalletOf(0, token.Code)
		r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
		r.Chain.Seize(token.Contract, w.Address.Base)
		r.Trouble = true
		r.Blocks(8)
		for range 3 {
			c.Advance(2 * time.Hour)
			r.Blocks(2)
		}
		var h store.Holding
		r.View(func(tx *store.Tx) (err error) {
			h, err = tx.Holdings().Current(ctx, r.Chain.Capabilities().ID, w.Address.Base, token.Contract)
			return err
		})
		if h.Due || h.Amount.IsZero() || len(r.Open()) != 0 {
			t.Errorf("the holding is %+v, open are %+v", h, r.Open())
		}
	})
}

// A settled sweep whose block was reorged out leaves its address due: should it expire, another one is made.
func TestAnUnsettledSweepLeavesItsAddressDue(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		token := r.WithToken()
		w := r.SweepToken(token, sim.Manners{})
		wantDue := func(when string, want bool) {
			t.Helper()
			r.View(func(tx *store.Tx) error {
				h, err := tx.Holdings().Current(ctx, r.Chain.Capabilities().ID, w.Address.Base, token.Contract)
				if h.Due != want || h.Amount.IsZero() == want {
					t.Errorf("%s the holding is %+v", when, h)
				}
				return err
			})
		}
		wantDue("settled,", false)
		r.Undo(r.SweepOf(w.Address.Base).TxID)
		r.CatchUp()
		wantDue("while the sweep is in no block", true)
		r.SettleAll()
		wantDue("settled again,", false)
	})
}

package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// The books of an address after a sweep that ended in an unusual way.

// whole returns the books of an address for an asset as a text.
func (r *harness) whole(base, contract string) (h store.Holding) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		h, err = tx.Holdings().Current(ctx, r.Chain.Capabilities().ID, base, contract)
		return err
	})
	return h
}

// sweptButNotSettled has a deposit of 80 of a token swept; the sweep is final on the chain, and so is a tiny deposit
// after it.
func (r *harness) sweptButNotSettled(token bursar.Currency, manners sim.Manners) bursar.Wallet {
	r.T.Helper()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	w := r.WalletOf(0, token.Code)
	r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
	sent := func() bool {
		for _, p := range r.Open() {
			if p.Kind == string(chain.KindSweep) && p.Base == w.Address.Base && p.Status == bursar.OutgoingSent {
				return true
			}
		}
		return false
	}
	for i := 0; i < 20 && !sent(); i++ {
		r.Blocks(1)
	}
	if !sent() {
		r.T.Fatalf("no sweep is sent: %+v", r.Open())
	}
	r.Chain.SetManners(token.Contract, manners)
	r.Chain.Mine(1)
	r.Chain.SetManners(token.Contract, sim.Manners{})
	r.Give(token.Code, w.Address, 500) // below the minimum
	r.Chain.Mine(4)
	r.CatchUp()
	return w
}

// The rest at an address is due for another sweep if it is worth one and its asset is still configured.
func TestTheRestOfASweepIsDueIfItIsWorthOne(t *testing.T) {
	for name, c := range map[string]struct {
		manners sim.Manners
		gone    bool // the token is removed from the configuration before the sweep is settled
		left    uint64
		due     bool
	}{
		"a little is left":         {left: 500},
		"nothing was moved":        {manners: sim.Manners{Paused: true}, left: 80_000_500, due: true},
		"of a token that was gone": {left: 500, gone: true},
		"all of a token that was":  {manners: sim.Manners{Paused: true}, left: 80_000_500, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				token := r.WithToken()
				w := r.sweptButNotSettled(token, c.manners)
				if c.gone {
					only, err := bursar.NewRegistry([]bursar.Currency{r.Currency})
					r.Must(err)
					r.Sender.Registry = only
				}
				r.Must(r.Sender.Step(ctx, r.Lease))
				if h := r.whole(w.Address.Base, token.Contract); h.Amount != bursar.Units(c.left) || h.Due != c.due {
					t.Errorf("%s are left, due for a sweep: %v, want %s and %v", h.Amount, h.Due, bursar.Units(c.left), c.due)
				}
				r.Must(r.Reconcile())
			})
		})
	}
}

// A sweep of the native asset that fails in its block has cost its fee and moved nothing, and one of a token has not
// cost the token.
func TestAFailedSweepCostsItsFee(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Wallet(1)
		r.Pay(w.Address, 80_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Must(r.Sweeper.Step(ctx, r.Lease))
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Chain.Close(r.Hot.Base)
		r.Chain.Mine(4)
		r.CatchUp()
		r.Must(r.Sender.Step(ctx, r.Lease))
		held := r.Chain.Balance(w.Address.Base, "")
		got := r.Holding(w.Address.Base, "")
		if got != held || !got.Less(bursar.Units(80_000_000)) || got.Less(bursar.Units(70_000_000)) {
			t.Errorf("the address holds %s, by the books %s", held, got)
		}
		r.Must(r.Audit())
		r.Chain.Open(r.Hot.Base)
		r.Settle()
		r.Must(r.Audit())
	})
}

// If a token delivers less of a sweep and was removed from the configuration, it is not known which currency to halt
// and where to book the loss: nothing is booked until it is configured again.
func TestAShortSweepOfAnUnconfiguredTokenWaits(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.sweptButNotSettled(token, sim.Manners{Fee: 10_000})
		whole := r.Registry
		only, err := bursar.NewRegistry([]bursar.Currency{r.Currency})
		r.Must(err)
		r.Sender.Registry = only
		if err := r.Sender.Step(ctx, r.Lease); err == nil || !strings.Contains(err.Error(), "whose sweep was short") {
			t.Errorf("the step returned %v, want an error and %q in it", err, "whose sweep was short")
		}
		if got := r.Holding(w.Address.Base, token.Contract); got != bursar.Units(80_000_500) {
			t.Errorf("the books say that %s are at the address, want %s", got, bursar.Units(80_000_500))
		}
		r.Sender.Registry = whole
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.WantAlarms("payout_short")
		r.wantShort(token, true)
		if got := r.Holding(w.Address.Base, token.Contract); got != bursar.Units(500) {
			t.Errorf("in the end the books say that %s are at the address, want %s", got, bursar.Units(500))
		}
		r.Must(r.Reconcile())
	})
}

// misread is a chain whose adapter reads two payments from the bytes of each transaction.
type misread struct{ *sim.Chain }

func (m misread) Inspect(raw []byte) (chain.Contents, error) {
	contents, err := m.Chain.Inspect(raw)
	contents.Payments = append(contents.Payments, contents.Payments...)
	return contents, err
}

// A sweep is not settled if it cannot be read what it moved.
func TestASweepThatCannotBeReadIsNotSettled(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.sweptButNotSettled(token, sim.Manners{})
		r.Sender.Chain = misread{r.Chain}
		if err := r.Sender.Step(ctx, r.Lease); err == nil ||
			!strings.Contains(err.Error(), "a sweep has 2 payments, want 1") {
			t.Errorf("the step returned %v, want an error and %q in it", err, "a sweep has 2 payments, want 1")
		}
		r.Sender.Chain = r.Chain
		r.Must(r.Sender.Step(ctx, r.Lease))
		if got := r.Holding(w.Address.Base, token.Contract); got != bursar.Units(500) {
			t.Errorf("in the end the books say that %s are at the address, want %s", got, bursar.Units(500))
		}
	})
}

package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// What the books say of an address after a sweep that did not end like most.

// whole is the books' line about what an address holds of an asset.
func (r *harness) whole(base, contract string) (h store.Holding) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		h, err = tx.Holdings().Current(ctx, r.chain.Capabilities().ID, base, contract)
		return err
	})
	return h
}

// sweptButNotSettled has a deposit of 80 of a token swept; the sweep is final on the chain, and so is a tiny deposit
// that came after it.
func (r *harness) sweptButNotSettled(token bursar.Currency, manners sim.Manners) bursar.Wallet {
	r.t.Helper()
	r.step()
	r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	w := r.walletOf(0, token.Code)
	r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
	sent := func() bool {
		for _, p := range r.open() {
			if p.Kind == string(chain.KindSweep) && p.Base == w.Address.Base && p.Status == bursar.OutgoingSent {
				return true
			}
		}
		return false
	}
	for i := 0; i < 20 && !sent(); i++ {
		r.blocks(1)
	}
	if !sent() {
		r.t.Fatalf("no sweep is sent: %+v", r.open())
	}
	r.chain.SetManners(token.Contract, manners)
	r.chain.Mine(1)
	r.chain.SetManners(token.Contract, sim.Manners{})
	r.give(token.Code, w.Address, 500) // below the minimum
	r.chain.Mine(4)
	r.catchUp()
	return w
}

// What is left at an address is due for another sweep where it is worth one, and its asset is still configured.
func TestWhatIsLeftOfASweepIsDueWhereItIsWorthOne(t *testing.T) {
	for name, c := range map[string]struct {
		manners sim.Manners
		gone    bool // the token is taken out of the configuration before the sweep is settled
		left    uint64
		due     bool
	}{
		"a little is left":         {left: 500},
		"nothing was moved":        {manners: sim.Manners{Paused: true}, left: 80_000_500, due: true},
		"of a token that was gone": {left: 500, gone: true},
		"all of a token that was":  {manners: sim.Manners{Paused: true}, left: 80_000_500, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, numbered, func(t *testing.T, r *harness) {
				token := r.withToken()
				w := r.sweptButNotSettled(token, c.manners)
				if c.gone {
					only, err := bursar.NewRegistry([]bursar.Currency{r.currency})
					r.must(err)
					r.sender.Registry = only
				}
				r.must(r.sender.Step(ctx, r.lease))
				if h := r.whole(w.Address.Base, token.Contract); h.Amount != bursar.Units(c.left) || h.Due != c.due {
					t.Errorf("%s are left, due for a sweep: %v", h.Amount, h.Due)
				}
				r.must(r.reconcile())
			})
		})
	}
}

// A sweep of the native asset that fails in its block has cost its fee and moved nothing, and one of a token has not
// cost the token.
func TestAFailedSweepCostsItsFee(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.wallet(1)
		r.pay(w.Address, 80_000_000)
		r.chain.Mine(3)
		r.catchUp()
		r.must(r.sweeper.Step(ctx, r.lease))
		r.must(r.sender.Step(ctx, r.lease))
		r.chain.Close(r.hot.Base)
		r.chain.Mine(4)
		r.catchUp()
		r.must(r.sender.Step(ctx, r.lease))
		held := r.chain.Balance(w.Address.Base, "")
		got := r.holding(w.Address.Base, "")
		if got != held || !got.Less(bursar.Units(80_000_000)) || got.Less(bursar.Units(70_000_000)) {
			t.Errorf("the address holds %s, by the books %s", held, got)
		}
		r.must(r.audit())
		r.chain.Open(r.hot.Base)
		r.settle()
		r.must(r.audit())
	})
}

// A token delivers less of a sweep and was taken out of the configuration: which currency to halt and to book the loss
// of is not known, so that nothing is booked until it is configured again.
func TestAShortSweepOfNoKnownTokenWaits(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.sweptButNotSettled(token, sim.Manners{Fee: 10_000})
		whole := r.registry
		only, err := bursar.NewRegistry([]bursar.Currency{r.currency})
		r.must(err)
		r.sender.Registry = only
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), "of which a sweep was short") {
			t.Errorf("the step ends with %v", err)
		}
		if got := r.holding(w.Address.Base, token.Contract); got != bursar.Units(80_000_500) {
			t.Errorf("the books say that %s are at the address", got)
		}
		r.sender.Registry = whole
		r.must(r.sender.Step(ctx, r.lease))
		r.wantAlarms("payout_short")
		r.wantShort(token, true)
		if got := r.holding(w.Address.Base, token.Contract); got != bursar.Units(500) {
			t.Errorf("in the end the books say that %s are at the address", got)
		}
		r.must(r.reconcile())
	})
}

// misread is a chain whose adapter reads two payments from the bytes of each transaction.
type misread struct{ *sim.Chain }

func (m misread) Inspect(raw []byte) (chain.Contents, error) {
	contents, err := m.Chain.Inspect(raw)
	contents.Payments = append(contents.Payments, contents.Payments...)
	return contents, err
}

// A sweep of which it cannot be said what it moved is not settled.
func TestASweepThatIsMisreadIsNotSettled(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.sweptButNotSettled(token, sim.Manners{})
		r.sender.Chain = misread{r.chain}
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), "a sweep of 2 payments") {
			t.Errorf("the step ends with %v", err)
		}
		r.sender.Chain = r.chain
		r.must(r.sender.Step(ctx, r.lease))
		if got := r.holding(w.Address.Base, token.Contract); got != bursar.Units(500) {
			t.Errorf("in the end the books say that %s are at the address", got)
		}
	})
}

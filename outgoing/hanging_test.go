package outgoing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// catchUp has the follower catch up.
func (r *harness) catchUp() {
	r.t.Helper()
	for more := true; more; {
		var err error
		more, err = r.follower.Step(ctx, r.lease)
		r.check(err)
	}
}

// withoutSigner has f run while the signer is away.
func (r *harness) withoutSigner(f func()) {
	r.t.Helper()
	real := r.sender.Signer
	r.sender.Signer = signerFunc(func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx,
		error) {
		return chain.SignedTx{}, errors.New("the signer is away")
	})
	f()
	r.sender.Signer = real
}

// holding is what the books say that an address holds of an asset.
func (r *harness) holding(base, contract string) (held bursar.Amount) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		h, err := tx.Holdings().Current(ctx, r.chain.Capabilities().ID, base, contract)
		held = h.Amount
		return err
	})
	return held
}

// hanging are the open outgoing transactions that wait for a deposit, and those that do not.
func (r *harness) hanging() (hang, move int) {
	r.t.Helper()
	for _, p := range r.open() {
		if p.WaitsFor == bursar.WaitsForDeposit {
			hang++
		} else {
			move++
		}
	}
	return hang, move
}

// An unsigned sweep ends at once when its deposit is reorged out, and the next deposit there is swept by the same
// nonce.
func TestAnUnsignedSweepEndsWithItsDeposit(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		deposit := r.pay(w.Address, 1_000_000_000)
		r.withoutSigner(func() {
			r.blocks(4)
			r.undo(deposit, deposit)
			r.catchUp()
			r.must(r.sender.Step(ctx, r.lease))
		})
		r.nothingOpen()
		if got := r.holding(w.Address.Base, ""); !got.IsZero() {
			t.Errorf("the books say that %s is there", got)
		}
		r.pay(w.Address, 800_000_000)
		r.settle()
		if err := r.audit(); err != nil {
			t.Error(err)
		}
		if got := r.chain.Balance(r.hot.Base, ""); got.Less(bursar.Units(700_000_000)) {
			t.Errorf("the hot wallet holds %s", got)
		}
	})
}

// So does a sweep of a token, together with the top-up of its gas.
func TestAnUnsignedTopUpEndsWithItsSweep(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		w := r.walletOf(0, "TOKEN")
		deposit := r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(50_000)})
		r.withoutSigner(func() {
			r.blocks(4)
			if _, move := r.hanging(); move != 2 {
				t.Fatalf("open are %+v", r.open())
			}
			r.undo(deposit, deposit)
			r.catchUp()
			r.must(r.sender.Step(ctx, r.lease))
			r.must(r.sender.Step(ctx, r.lease))
		})
		r.nothingOpen()
	})
}

// hung returns a rig's wallet whose sweep of 10 COIN is signed, and whose deposit has been reorged out since.
func (r *harness) hung() bursar.Wallet { return r.hungOver(0) }

// hungOver is hung with so many units at the address that stay there.
func (r *harness) hungOver(left uint64) bursar.Wallet {
	r.t.Helper()
	r.step()
	w := r.wallet(0)
	if left > 0 {
		r.pay(w.Address, left)
		r.chain.Mine(1)
	}
	deposit := r.pay(w.Address, 1_000_000_000)
	r.blocks(4)
	if r.swept()["COIN"] != 1 {
		r.t.Fatalf("nothing was swept: %+v", r.open())
	}
	r.chain.Forget()
	r.undo(deposit, deposit)
	r.chain.Forget()
	for range 5 {
		r.step()
		r.chain.Mine(1)
	}
	if hang, move := r.hanging(); hang != 1 || move != 0 {
		r.t.Fatalf("open are %+v", r.open())
	}
	return w
}

// A signed sweep whose deposit was reorged out hangs: it is nothing under way and stands in nobody's way. When its
// address is paid again, less or more than before, it collects that.
func TestASweepThatHangsGoesOnWithTheNextDeposit(t *testing.T) {
	for _, paid := range []uint64{700_000_000, 1_000_000_000, 1_300_000_000} {
		each(t, numbered, func(t *testing.T, r *harness) {
			w := r.hung()
			if n := r.swept()["COIN"]; n != 0 {
				t.Errorf("%d sweeps count as under way", n)
			}
			r.view(func(tx *store.Tx) error {
				q, err := tx.Queues().OpenOutgoing(ctx, r.chain.Capabilities().ID)
				if q.Waiting != 0 {
					t.Errorf("under way are %d", q.Waiting)
				}
				return err
			})
			r.pay(w.Address, paid)
			r.settle()
			if err := r.audit(); err != nil {
				t.Error(err)
			}
			if got := r.chain.Balance(w.Address.Base, ""); got != r.holding(w.Address.Base, "") {
				t.Errorf("%s is left at the address, the books say %s", got, r.holding(w.Address.Base, ""))
			}
			if got := r.chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(paid / 2)) {
				t.Errorf("%s was not swept", got)
			}
		})
	}
}

// A token that is paid to the address of a sweep that hangs is collected by that sweep's nonce.
func TestAnotherAssetIsSweptByTheNonceThatHangs(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens()
		w := r.hung()
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.give("TOKEN", w.Address, 50_000)
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		r.settleAll()
		if got := r.chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("%s TOKEN are left", got)
			r.logOpen(5)
		}
		if got := r.holding(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("the books say that %s TOKEN are left", got)
		}
		if err := r.chain.Check(); err != nil {
			t.Error(err)
		}
	})
}

// A signed sweep hangs as well where what is left at its address does not pay for it: another asset there is collected
// by its nonce, and the next deposit with what was left.
func TestASweepHangsOverDust(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens()
		w := r.hungOver(341)
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.give("TOKEN", w.Address, 50_000)
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		r.settleAll()
		if got := r.chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("%s TOKEN are left", got)
			r.logOpen(5)
		}
	})
	each(t, numbered, func(t *testing.T, r *harness) {
		w := r.hungOver(341)
		r.pay(w.Address, 700_000_000)
		r.settle()
		if got := r.chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			t.Errorf("%s was not swept", got)
		}
		r.must(r.audit())
	})
}

// A signed sweep of more of a token than is left at its address cannot be replaced where nothing is numbered: it ends
// when its bytes have expired, and another one collects what is there.
func TestASweepOfTooMuchExpires(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		w := r.walletOf(0, "TOKEN")
		r.give("TOKEN", w.Address, 50_000)
		r.chain.Mine(1)
		left := r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(30_000)})
		for range 12 {
			r.chain.Mine(1)
			r.step()
			if sent := slices.IndexFunc(r.open(), func(p bursar.OutgoingTx) bool {
				return p.Kind == string(chain.KindSweep) && p.Status == bursar.OutgoingSent
			}); sent >= 0 {
				break
			}
		}
		if r.swept()["TOKEN"] != 1 {
			t.Fatalf("open are %+v", r.open())
		}
		r.chain.Forget()
		r.undo(left, left)
		r.trouble = true
		r.blocks(40)
		r.trouble = false
		r.nothingOpen()
		if got := r.chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("%s TOKEN are left", got)
		}
		r.must(r.chain.Check())
	})
}

// settleAll mines and steps for a while; what the service does not know, as tokens that come to another currency's
// wallet, may stay open.
func (r *harness) settleAll() {
	r.t.Helper()
	r.blocks(25)
}

// Many sweeps that hang do not keep others from being ordered.
func TestSweepsThatHangHoldUpNoOthers(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		var deposits []string
		for range 33 {
			deposits = append(deposits, r.pay(r.wallet(0).Address, 1_000_000_000))
		}
		r.blocks(5)
		r.chain.Forget()
		r.undo(deposits[0], deposits...)
		r.chain.Forget()
		for range 5 {
			r.step()
			r.chain.Mine(1)
		}
		if hang, _ := r.hanging(); hang < 32 {
			t.Fatalf("%d hang", hang)
		}
		w := r.wallet(1)
		r.pay(w.Address, 1_000_000_000)
		r.blocks(12)
		if got := r.chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Errorf("%s was not swept behind those that hang", got)
		}
	})
}

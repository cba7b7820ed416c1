package outgoing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// withoutSigner runs f while the signer is unavailable.
func (r *harness) withoutSigner(f func()) {
	r.T.Helper()
	real := r.Sender.Signer
	r.Sender.Signer = bursartest.SignerFunc(func(context.Context, bursar.ChainID, chain.TxRequest,
		chain.UnsignedTx) (chain.SignedTx,
		error) {
		return chain.SignedTx{}, errors.New("the signer is unavailable")
	})
	f()
	r.Sender.Signer = real
}

// hanging returns the open outgoing transactions that wait for a deposit, and those that do not.
func (r *harness) hanging() (hang, move int) {
	r.T.Helper()
	for _, p := range r.Open() {
		if p.WaitsFor == bursar.WaitsForDeposit {
			hang++
		} else {
			move++
		}
	}
	return hang, move
}

// An unsigned sweep ends at once when its deposit is reorged out, and the next deposit there is swept with the same
// nonce.
func TestAnUnsignedSweepEndsWithItsDeposit(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		deposit := r.Pay(w.Address, 1_000_000_000)
		r.withoutSigner(func() {
			r.Blocks(4)
			r.Undo(deposit, deposit)
			r.CatchUp()
			r.Must(r.Sender.Step(ctx, r.Lease))
		})
		r.NothingOpen()
		if got := r.Holding(w.Address.Base, ""); !got.IsZero() {
			t.Errorf("the books say that %s is there, want 0", got)
		}
		r.Pay(w.Address, 800_000_000)
		r.Settle()
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
		if got := r.Chain.Balance(r.Hot.Base, ""); got.Less(bursar.Units(700_000_000)) {
			t.Errorf("the hot wallet holds %s", got)
		}
	})
}

// An unsigned sweep of a token also ends at once, together with the top-up of its gas.
func TestAnUnsignedTopUpEndsWithItsSweep(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		w := r.WalletOf(0, "TOKEN")
		deposit := r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(50_000)})
		r.withoutSigner(func() {
			r.Blocks(4)
			if _, move := r.hanging(); move != 2 {
				t.Fatalf("open are %+v, want 2", r.Open())
			}
			r.Undo(deposit, deposit)
			r.CatchUp()
			r.Must(r.Sender.Step(ctx, r.Lease))
			r.Must(r.Sender.Step(ctx, r.Lease))
		})
		r.NothingOpen()
	})
}

// hung returns a wallet of a harness whose sweep of 10 COIN is signed, and whose deposit has been reorged out since.
func (r *harness) hung() bursar.Wallet { return r.hungOver(0) }

// hungOver is hung with a number of units at the address that stay there.
func (r *harness) hungOver(left uint64) bursar.Wallet {
	r.T.Helper()
	r.Step()
	w := r.Wallet(0)
	if left > 0 {
		r.Pay(w.Address, left)
		r.Chain.Mine(1)
	}
	deposit := r.Pay(w.Address, 1_000_000_000)
	r.Blocks(4)
	if r.Swept()["COIN"] != 1 {
		r.T.Fatalf("nothing was swept: %+v", r.Open())
	}
	r.Chain.Forget()
	r.Undo(deposit, deposit)
	r.Chain.Forget()
	for range 5 {
		r.Step()
		r.Chain.Mine(1)
	}
	if hang, move := r.hanging(); hang != 1 || move != 0 {
		r.T.Fatalf("open are %+v", r.Open())
	}
	return w
}

// A signed sweep whose deposit was reorged out hangs: it does not count as in progress and blocks nothing. When its
// address is paid again, less or more than before, it collects that.
func TestASweepThatHangsGoesOnWithTheNextDeposit(t *testing.T) {
	for _, paid := range []uint64{700_000_000, 1_000_000_000, 1_300_000_000} {
		each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
			w := r.hung()
			if n := r.Swept()["COIN"]; n != 0 {
				t.Errorf("%d sweeps count as in progress, want 0", n)
			}
			r.View(func(tx *store.Tx) error {
				q, err := tx.Queues().OpenOutgoing(ctx, r.Chain.Capabilities().ID)
				if q.Waiting != 0 {
					t.Errorf("in progress are %d, want 0", q.Waiting)
				}
				return err
			})
			r.Pay(w.Address, paid)
			r.Settle()
			if err := r.Audit(); err != nil {
				t.Error(err)
			}
			if got := r.Chain.Balance(w.Address.Base, ""); got != r.Holding(w.Address.Base, "") {
				t.Errorf("%s is left at the address, the books say %s", got, r.Holding(w.Address.Base, ""))
			}
			if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(paid / 2)) {
				t.Errorf("%s was not swept", got)
			}
		})
	}
}

// A token that is paid to the address of a hanging sweep is collected with that sweep's nonce.
func TestAnotherAssetIsSweptWithTheHangingNonce(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens()
		w := r.hung()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Give("TOKEN", w.Address, 50_000)
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		r.SettleAll()
		if got := r.Chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("%s TOKEN are left, want zero", got)
			r.LogOpen(5)
		}
		if got := r.Holding(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("the books say that %s TOKEN are left, want 0", got)
		}
		if err := r.Chain.Check(); err != nil {
			t.Error(err)
		}
	})
}

// A signed sweep also hangs if the rest at its address does not pay for it: another asset there is collected with its
// nonce, and the next deposit together with the rest.
func TestASweepHangsOverDust(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens()
		w := r.hungOver(341)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Give("TOKEN", w.Address, 50_000)
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		r.SettleAll()
		if got := r.Chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("%s TOKEN are left, want zero", got)
			r.LogOpen(5)
		}
	})
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w := r.hungOver(341)
		r.Pay(w.Address, 700_000_000)
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			t.Errorf("%s was not swept", got)
		}
		r.Must(r.Audit())
	})
}

// A signed sweep of more of a token than its address holds cannot be replaced on a chain without nonces: it ends when
// its bytes have expired, and another one collects what is there.
func TestASweepOfTooMuchExpires(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		w := r.WalletOf(0, "TOKEN")
		r.Give("TOKEN", w.Address, 50_000)
		r.Chain.Mine(1)
		left := r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(30_000)})
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
			if sent := slices.IndexFunc(r.Open(), func(p bursar.OutgoingTx) bool {
				return p.Kind == string(chain.KindSweep) && p.Status == bursar.OutgoingSent
			}); sent >= 0 {
				break
			}
		}
		if r.Swept()["TOKEN"] != 1 {
			t.Fatalf("open are %+v, want 1", r.Open())
		}
		r.Chain.Forget()
		r.Undo(left, left)
		r.Trouble = true
		r.Blocks(40)
		r.Trouble = false
		r.NothingOpen()
		if got := r.Chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			t.Errorf("%s TOKEN are left, want 0", got)
		}
		r.Must(r.Chain.Check())
	})
}

// Many hanging sweeps do not keep other sweeps from being requested.
func TestSweepsThatHangHoldUpNoOthers(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		var deposits []string
		for range 33 {
			deposits = append(deposits, r.Pay(r.Wallet(0).Address, 1_000_000_000))
		}
		r.Blocks(5)
		r.Chain.Forget()
		r.Undo(deposits[0], deposits...)
		r.Chain.Forget()
		for range 5 {
			r.Step()
			r.Chain.Mine(1)
		}
		if hang, _ := r.hanging(); hang < 32 {
			t.Fatalf("%d hang, want at least 32", hang)
		}
		w := r.Wallet(1)
		r.Pay(w.Address, 1_000_000_000)
		r.Blocks(12)
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Errorf("%s was not swept behind those that hang", got)
		}
	})
}

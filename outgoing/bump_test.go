package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// A fee bump may need a further UTXO. If the lower version is mined after all, that UTXO can still be spent.
func TestAUTXOOfABumpThatLostIsSpentLater(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 300_000_000)
		r.pay(r.wallet(0).Address, 299_000_000)
		r.pay(r.wallet(0).Address, 298_000_000)
		r.chain.Mine(3)
		r.step()
		before, to := r.available(0), r.chain.Named("outside")
		w := r.order(299_998_000, to) // the largest UTXO is only enough for the first fee
		r.step()
		low := r.version(r.now(w).TxID)
		r.chain.SetRate(40)
		for range 5 {
			if r.now(w).TxID == low.TxID {
				r.chain.Mine(1)
				r.step()
			}
		}
		r.chain.SetRate(10)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, low))
		r.chain.Mine(1)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		if got := r.now(w).TxID; got != low.TxID {
			t.Errorf("it was paid by %s, want %s", got, low.TxID)
		}
	})
}

// A transaction that cannot be replaced now is sent again: a node may have forgotten it.
func TestABumpThatCannotBeMadeIsSentAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.chain.FailBroadcasts(sim.LostSilently, 3)
		r.step()
		r.chain.Fail(sim.Build, 1000, nil)
		r.trouble = true
		for range 12 {
			r.chain.Mine(1)
			r.step()
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// watched is a signer that reports every unsigned transaction before it signs.
type watched struct {
	outgoing.Signer
	notify func(chain.UnsignedTx)
}

func (s watched) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	s.notify(unsigned)
	return s.Signer.Sign(ctx, id, request, unsigned)
}

// unreserved returns the first resource of an unsigned transaction that no outgoing transaction has reserved.
func (r *harness) unreserved(unsigned chain.UnsignedTx) (found string) {
	r.t.Helper()
	for _, resource := range unsigned.Reservations {
		undo := errors.New("undo")
		err := r.db.Do(ctx, func(tx *store.Tx) error {
			err := tx.Reservations().Reserve(ctx, bursar.OutgoingTx{ID: bursar.ID{15: 9}, Chain: r.chain.Capabilities().ID},
				[]string{resource})
			return errors.Join(err, undo)
		})
		if !errors.Is(err, store.ErrReserved) {
			found = resource
		}
	}
	return found
}

// Nothing is signed before its UTXOs are reserved, including a fee bump.
func TestABumpIsReservedBeforeItIsSigned(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 300_000_000)
		r.pay(r.wallet(0).Address, 299_000_000)
		r.pay(r.wallet(0).Address, 298_000_000)
		r.chain.Mine(3)
		r.step()
		before, to := r.available(0), r.chain.Named("outside")
		signed := 0
		r.sender.Signer = watched{r.signer, func(d chain.UnsignedTx) {
			if resource := r.unreserved(d); resource != "" {
				t.Errorf("%s is to be signed and not reserved", resource)
			}
			signed++
		}}
		w := r.order(299_998_000, to)
		r.step()
		r.chain.SetRate(40)
		r.settle()
		if signed != 2 {
			t.Errorf("%d unsigned transactions were signed", signed)
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If a block includes the first version while the second is signed, the second is never sent, and the first is the
// payment.
func TestABumpThatComesTooLateIsDropped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.step()
		first := r.now(w).TxID
		r.chain.SetRate(40)
		r.sender.Signer = watched{r.signer, func(chain.UnsignedTx) {
			r.chain.SetRate(10)
			r.chain.Mine(1)
			_, err := r.follower.Step(ctx, r.lease)
			r.must(err)
		}}
		r.settle()
		if got := r.now(w).TxID; got != first {
			t.Errorf("it is paid by %s, want %s", got, first)
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// Nothing is built on the change of one of several versions before it is final: a block may include another version
// instead.
func TestChangeOfOneOfSeveralVersionsWaitsForFinality(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 2_000_000_000) // its change stays the largest UTXO
		r.pay(r.wallet(0).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		first, second := r.chain.Named("first"), r.chain.Named("second")
		w := r.order(100_000_000, first)
		r.step()
		low := r.version(r.now(w).TxID)
		r.chain.SetRate(40)
		for range 5 {
			if r.now(w).TxID == low.TxID {
				r.chain.Mine(1)
				r.step()
			}
		}
		high := r.version(r.now(w).TxID)
		r.chain.SetRate(10)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, low))
		r.chain.Mine(1)
		r.step()
		next := r.order(100_000_000, second)
		r.step()
		r.chain.Reorg(1, low.TxID)
		r.must(r.chain.Broadcast(ctx, high))
		r.chain.Mine(1)
		r.trouble = true
		r.settle()
		for to, w := range map[string]bursar.Withdrawal{first: w, second: next} {
			if got := r.chain.Balance(to, ""); got != w.Amount {
				t.Errorf("%s holds %s", to, got)
			}
		}
		r.must(r.audit())
	})
}

// A fee bump of a sweep moves the requested amount, although its address has received more since.
func TestABumpOfASweepMovesWhatItsRequestSays(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 400_000_000)
		r.chain.Mine(3)
		r.step()
		r.step()
		r.chain.SetRate(40)
		r.pay(w.Address, 500_000_000)
		r.chain.Mine(4)
		r.step()
		sweep := r.open()[0]
		if sweep.Versions != 2 {
			t.Fatalf("the sweep has %d versions", sweep.Versions)
		}
		r.chain.Mine(3)
		r.step()
		r.do(func(tx *store.Tx) error {
			h, err := tx.Holdings().Get(ctx, r.chain.Capabilities().ID, w.Address.Base, "")
			if got := r.chain.Balance(w.Address.Base, ""); got != h.Amount || got.Less(bursar.Units(490_000_000)) {
				t.Errorf("the books say that the address holds %s, it holds %s", h.Amount, got)
			}
			return err
		})
		r.settle()
		r.must(r.audit())
	})
}

// While a transaction waits behind one that cannot be replaced, its own fee is not bumped: that would only cost more.
func TestNothingIsBumpedBehindAStuckNonce(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.order(100_000_000, r.chain.Named("first"))
		r.order(100_000_000, r.chain.Named("second"))
		r.step()
		stuck := r.open()[0]
		refuses := 0
		r.sender.Signer = refusing{r.signer, stuck.ID, &refuses}
		r.chain.SetRate(100)
		r.trouble = true
		for range 30 {
			r.chain.Mine(1)
			r.step()
		}
		if open := r.open(); len(open) != 2 || open[0].Versions != 1 || open[1].Versions != 1 || refuses == 0 {
			t.Fatalf("%d versions of the first, which was refused %d times, and %d of the second", open[0].Versions, refuses,
				open[1].Versions)
		}
		r.sender.Signer = r.signer
		r.trouble = false
		r.settle()
		r.must(r.audit())
	})
}

// refusing is a signer that does not answer for one outgoing transaction.
type refusing struct {
	outgoing.Signer
	outgoingID bursar.ID
	times      *int
}

func (s refusing) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if request.ID == s.outgoingID {
		*s.times++
		return chain.SignedTx{}, errors.New("no answer")
	}
	return s.Signer.Sign(ctx, id, request, unsigned)
}

// A sweep collects what is final when it is built, although less was there when it was requested; deposits that are not
// final stay.
func TestASweepCollectsWhatIsFinalWhenItIsBuilt(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 400_000_000)
		r.chain.Mine(3)
		r.step() // requested
		r.pay(w.Address, 500_000_000)
		r.chain.Mine(3)
		r.pay(w.Address, 70_000_000)
		r.chain.Mine(1)
		r.step() // built
		r.chain.Mine(1)
		got := r.chain.Balance(r.hot.Base, "")
		if got.Less(bursar.Units(890_000_000)) || bursar.Units(900_000_000).Less(got) {
			t.Errorf("%s is swept", got)
		}
	})
}

package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// threeUTXOs gives the hot wallet three UTXOs, the largest of 300,000,000 units.
func (r *harness) threeUTXOs() {
	r.T.Helper()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 300_000_000)
	r.Pay(r.Wallet(0).Address, 299_000_000)
	r.Pay(r.Wallet(0).Address, 298_000_000)
	r.Chain.Mine(3)
	r.Step()
}

// loseBump has the fee of a withdrawal's transaction bumped, after which fees fall and the nodes know only the version
// with the lower fee.
func (r *harness) loseBump(w bursar.Withdrawal) (low, high chain.SignedTx) {
	r.T.Helper()
	low = r.version(r.Now(w).TxID)
	r.Chain.SetRate(40)
	for range 9 {
		if r.Now(w).TxID == low.TxID {
			r.Chain.Mine(1)
			r.Step()
		}
	}
	if high = r.version(r.Now(w).TxID); high.TxID == low.TxID {
		r.T.Fatal("the fee was not bumped in 9 blocks")
	}
	r.Chain.SetRate(10)
	r.Chain.Forget()
	r.Must(r.Chain.Broadcast(ctx, low))
	return low, high
}

// A fee bump may need a further UTXO. If the lower version is mined after all, that UTXO can still be spent.
func TestAUTXOOfABumpThatLostIsSpentLater(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.threeUTXOs()
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(299_998_000, to) // the largest UTXO is only enough for the first fee
		r.Step()
		low, _ := r.loseBump(w)
		r.Chain.Mine(1)
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if got := r.Now(w).TxID; got != low.TxID {
			t.Errorf("it was paid by %s, want %s", got, low.TxID)
		}
	})
}

// A transaction that cannot be replaced now is sent again: a node may have forgotten it.
func TestABumpThatCannotBeMadeIsSentAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Chain.FailBroadcasts(sim.LostSilently, 3)
		r.Step()
		r.Chain.Fail(sim.Build, 1000, nil)
		r.Trouble = true
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
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
	r.T.Helper()
	for _, resource := range unsigned.Reservations {
		undo := errors.New("undo")
		err := r.DB.Do(ctx, func(tx *store.Tx) error {
			err := tx.Reservations().Reserve(ctx, bursar.OutgoingTx{ID: bursar.ID{15: 9}, Chain: r.Chain.Capabilities().ID},
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
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.threeUTXOs()
		before, to := r.Available(0), r.Chain.Named("outside")
		signed := 0
		r.Sender.Signer = watched{r.Signer, func(d chain.UnsignedTx) {
			if resource := r.unreserved(d); resource != "" {
				t.Errorf("%s is to be signed and not reserved, want everything reserved", resource)
			}
			signed++
		}}
		w := r.Order(299_998_000, to)
		r.Step()
		r.Chain.SetRate(40)
		r.Settle()
		if signed != 2 {
			t.Errorf("%d unsigned transactions were signed, want 2", signed)
		}
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If a block includes the first version while the second is signed, the second is never sent, and the first is the
// payment.
func TestABumpThatComesTooLateIsDropped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Step()
		first := r.Now(w).TxID
		r.Chain.SetRate(40)
		r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) {
			r.Chain.SetRate(10)
			r.Chain.Mine(1)
			_, err := r.Follower.Step(ctx, r.Lease)
			r.Must(err)
		}}
		r.Settle()
		if got := r.Now(w).TxID; got != first {
			t.Errorf("the withdrawal is paid by %s, want %s", got, first)
		}
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// Nothing is built on the change of one of several versions before it is final: a block may include another version
// instead.
func TestChangeOfOneOfSeveralVersionsWaitsForFinality(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 2_000_000_000) // its change stays the largest UTXO
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		first, second := r.Chain.Named("first"), r.Chain.Named("second")
		w := r.Order(100_000_000, first)
		r.Step()
		low, high := r.loseBump(w)
		r.Chain.Mine(1)
		r.Step()
		next := r.Order(100_000_000, second)
		r.Step()
		r.Chain.Reorg(1, low.TxID)
		r.Must(r.Chain.Broadcast(ctx, high))
		r.Chain.Mine(1)
		r.Trouble = true
		r.Settle()
		for to, w := range map[string]bursar.Withdrawal{first: w, second: next} {
			if got := r.Chain.Balance(to, ""); got != w.Amount {
				t.Errorf("%s holds %s, want %s", to, got, w.Amount)
			}
		}
		r.Must(r.Audit())
	})
}

// A fee bump of a sweep moves the requested amount, although its address has received more since.
func TestABumpOfASweepMovesWhatItsRequestSays(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 400_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Step()
		r.Chain.SetRate(40)
		r.Pay(w.Address, 500_000_000)
		r.Chain.Mine(4)
		r.Step()
		sweep := r.Open()[0]
		if sweep.Versions != 2 {
			t.Fatalf("the sweep has %d versions, want 2", sweep.Versions)
		}
		r.Chain.Mine(3)
		r.Step()
		r.Do(func(tx *store.Tx) error {
			h, err := tx.Holdings().Get(ctx, r.Chain.Capabilities().ID, w.Address.Base, "")
			if got := r.Chain.Balance(w.Address.Base, ""); got != h.Amount || got.Less(bursar.Units(490_000_000)) {
				t.Errorf("the books say that the address holds %s, it holds %s", h.Amount, got)
			}
			return err
		})
		r.Settle()
		r.Must(r.Audit())
	})
}

// While a transaction waits behind one that cannot be replaced, its own fee is not bumped: that would only cost more.
func TestNothingIsBumpedBehindAStuckNonce(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Order(100_000_000, r.Chain.Named("first"))
		r.Order(100_000_000, r.Chain.Named("second"))
		r.Step()
		stuck := r.Open()[0]
		refuses := 0
		r.Sender.Signer = refusing{r.Signer, stuck.ID, &refuses}
		r.Chain.SetRate(100)
		r.Trouble = true
		for range 30 {
			r.Chain.Mine(1)
			r.Step()
		}
		if open := r.Open(); len(open) != 2 || open[0].Versions != 1 || open[1].Versions != 1 || refuses == 0 {
			t.Fatalf("%d versions of the first, which was refused %d times, and %d of the second, "+
				"want 2 of them and 1 and not 0",
				open[0].Versions, refuses,
				open[1].Versions)
		}
		r.Sender.Signer = r.Signer
		r.Trouble = false
		r.Settle()
		r.Must(r.Audit())
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
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 400_000_000)
		r.Chain.Mine(3)
		r.Step() // requested
		r.Pay(w.Address, 500_000_000)
		r.Chain.Mine(3)
		r.Pay(w.Address, 70_000_000)
		r.Chain.Mine(1)
		r.Step() // built
		r.Chain.Mine(1)
		got := r.Chain.Balance(r.Hot.Base, "")
		if got.Less(bursar.Units(890_000_000)) || bursar.Units(900_000_000).Less(got) {
			t.Errorf("%s is swept", got)
		}
	})
}

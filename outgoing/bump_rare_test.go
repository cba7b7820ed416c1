package outgoing_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// signs makes the sender's signer record whose transactions it signs.
func (r *harness) signs() *[]bursar.ID {
	var ids []bursar.ID
	r.Sender.Signer = bursartest.SignerFunc(func(c context.Context, id bursar.ChainID, request chain.TxRequest,
		unsigned chain.UnsignedTx) (chain.SignedTx, error) {
		ids = append(ids, request.ID)
		return r.Signer.Sign(c, id, request, unsigned)
	})
	return &ids
}

// versionsFor counts the versions of the transaction that pays a withdrawal.
func (r *harness) versionsFor(w bursar.Withdrawal) int64 {
	return r.spendNow(r.Now(w).OutgoingID).Versions
}

// A payment whose change another one has used keeps its fee: a bump would make the other one void. It is sent again.
func TestAPaymentWhoseChangeIsUsedIsNotBumped(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(3)
		r.Step()
		first := r.Order(100_000_000, r.Chain.Named("one"))
		r.Step()
		second := r.Order(100_000_000, r.Chain.Named("two"))
		r.Step()
		r.Chain.SetRate(50)
		node, signed := r.record(), r.signs()
		r.Chain.Mine(3)
		r.Step()
		if slices.Contains(*signed, r.Now(first).OutgoingID) || r.versionsFor(first) != 1 {
			t.Errorf("the first is signed again, and has %d versions", r.versionsFor(first))
		}
		if !slices.Contains(node.sent, r.Now(first).TxID) || r.versionsFor(second) != 2 {
			t.Errorf("a node is sent %q, and the second has %d versions, want %v in it and 2", node.sent, r.versionsFor(second),
				r.Now(first).TxID)
		}
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// Of two payments with consecutive nonces the first is bumped, and then the second, whose own fee is too low as well.
func TestAPaymentBehindABumpIsBumpedNext(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		first := r.Order(100_000_000, r.Chain.Named("first"))
		second := r.Order(100_000_000, r.Chain.Named("second"))
		r.Step()
		r.Chain.SetRate(100)
		node, signed := r.record(), r.signs()
		r.Chain.Mine(3)
		r.Step()
		if one, two := r.versionsFor(first), r.versionsFor(second); one != 2 || two > 2 {
			t.Errorf("after three blocks the first has %d versions and the second %d, want 2 and at most 2", one, two)
		}
		node.since()
		r.Chain.SetRate(1000) // a block does not include these either
		r.Chain.Mine(1)
		r.Step()
		if got := r.versionsFor(second); got != 2 {
			t.Errorf("with the next block the second has %d versions; signed are %d, want 2", got, len(*signed))
		}
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// While a payment waits behind one that cannot be bumped, it is not signed again, and is sent again with each block.
func TestAPaymentBehindAStuckNonceIsSentAgain(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		first := r.Order(100_000_000, r.Chain.Named("first"))
		second := r.Order(100_000_000, r.Chain.Named("second"))
		r.Step()
		r.Chain.SetRate(100)
		refuses := 0
		stuck := refusing{r.Signer, r.Now(first).OutgoingID, &refuses}
		behind := 0
		r.Sender.Signer = watched{stuck, func(chain.UnsignedTx) { behind++ }}
		node := r.record()
		r.Trouble = true
		r.Chain.Mine(3)
		r.CatchUp()
		for range 3 {
			node.since()
			r.Chain.Mine(1)
			r.Step()
			if !slices.Contains(node.sent, r.Now(second).TxID) || !slices.Contains(node.sent, r.Now(first).TxID) {
				t.Errorf("a node is sent %q, want %v in it and %v in it", node.sent, r.Now(second).TxID, r.Now(first).TxID)
			}
		}
		if behind != refuses || refuses == 0 || r.errorOf(second) != "" {
			t.Errorf("the signer is asked %d times, %d times for the first; the error of the second is %q",
				behind, refuses, r.errorOf(second))
		}
		r.Sender.Signer = r.Signer
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// errorOf returns the error of a withdrawal's outgoing transaction.
func (r *harness) errorOf(w bursar.Withdrawal) string { return r.spendNow(r.Now(w).OutgoingID).Error }

// The bytes of a payment that a halt holds expire, which frees their nonce. A payment that waits behind that nonce is
// not bumped: no fee would bring it into a block before another transaction has that nonce.
func TestAPaymentBehindAFreeNonceIsNotBumped(t *testing.T) {
	config := bumping()
	config.Expiry = 14
	each(t, config, func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Halt(shortToken())
		r.Chain.Mine(8)
		r.CatchUp()
		order := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Step()
		free := 0
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
			if p := r.spendNow(r.Now(order).OutgoingID); r.Now(held).OutgoingID.IsZero() && p.Status == bursar.OutgoingSent {
				free++
				if p.Versions != 1 {
					t.Fatalf("behind a free nonce it has %d versions, want 1", p.Versions)
				}
			}
		}
		if free < 3 {
			t.Errorf("it waited for %d blocks behind a free nonce, want at least 3", free)
		}
		r.Resume(shortToken())
		r.Settle()
		r.Must(r.Reconcile())
	})
}

// A voiding transaction shares the nonce of the held payment. That is no reason to wait: its own fee is bumped while it
// is too low.
func TestAVoidingTransactionIsBumped(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Step()
		r.Step()
		r.Chain.SetRate(1000)
		r.Blocks(1)
		if list := r.fillers(); len(list) != 1 || list[0].Status != bursar.OutgoingSent {
			t.Fatalf("the voiding transaction is %+v, want 1 of them and %v", list, bursar.OutgoingSent)
		}
		node := r.record()
		r.Blocks(3)
		if list := r.fillers(); len(list) != 1 || list[0].Versions != 2 {
			t.Errorf("the voiding transaction is %+v, want 1 of them and 2", list)
		}
		if slices.Contains(node.sent, r.Now(held).TxID) {
			t.Errorf("a transaction being voided is sent, want no %v", r.Now(held).TxID)
		}
		r.Chain.SetRate(10)
		r.Blocks(12)
		if got := r.Chain.Balance(r.Chain.Named("coin"), ""); got != w.Amount {
			t.Errorf("of COIN %s was paid, want %s", got, w.Amount)
		}
		r.Resume(shortToken())
		r.Settle()
		r.NothingOpen()
	})
}

// A fee bump that does not use the resources of the first version could be included beside it. It is not signed.
func TestABumpThatSharesNothingWithTheFirstIsNotSigned(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		node.build = func(request chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
			if request.Replaces != nil {
				unsigned.Reservations = []string{r.Hot.Base + "/77"}
			}
			return unsigned, err
		}
		signed := r.signs()
		r.Chain.Mine(3)
		r.Step()
		if got := r.only(); len(*signed) > 0 || got.Versions != 1 ||
			!strings.Contains(got.Error, "the replacement does not use the UTXOs or nonce") {
			t.Errorf("%d are signed, it has %d versions, and its error is %q, want none and 1 and %q in it", len(*signed),
				got.Versions, got.Error, "the replacement does not use the UTXOs or nonce")
		}
		node.wantSent(t, "all the same", w.TxID)
		r.Sender.Chain = r.Chain
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// If a halt begins before a fee bump is built, no node is asked; if it begins before or while the bump is built, the
// signer is not asked.
func TestNothingIsSignedForABumpDuringAHalt(t *testing.T) {
	for name, during := range map[string]bool{"before it is built": false, "while it is built": true} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				w, node := r.waiting()
				halt := func() { r.Halt(byAnn(store.HaltAll)) }
				node.build = func(_ chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
					if during {
						halt()
					}
					return unsigned, err
				}
				if !during {
					halt()
				}
				signed := r.signs()
				r.Chain.Mine(3)
				r.Step()
				if len(*signed) > 0 || (len(node.built) > 0) != during {
					t.Errorf("%d are signed and %d built, want none and %v", len(*signed), len(node.built), during)
				}
				node.wantSent(t, "during the halt", w.TxID)
				if got := r.only().Error; !strings.Contains(got, "are halted by ann") {
					t.Errorf("its error is %q, want one with %q", got, "are halted by ann")
				}
				r.Resume(byAnn(store.HaltAll))
				r.Sender.Chain = r.Chain
				r.Settle()
				r.Must(r.Audit())
			})
		})
	}
}

// If a block includes the first version while the second is signed, the second is neither stored nor sent, and that is
// no error.
func TestABumpThatComesTooLateReachesNoNode(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		r.Chain.Mine(3)
		r.CatchUp()
		r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) {
			r.Chain.SetRate(10)
			r.Chain.Mine(1)
			r.CatchUp()
		}}
		r.Must(r.Sender.Step(ctx, r.Lease))
		node.wantSent(t, "after the block")
		if got := r.only(); got.TxID != w.TxID || got.Versions != 1 || got.Height == 0 || got.Error != "" {
			t.Errorf("it is %+v, want %v and 1 and not 0 and %q", got, w.TxID, "")
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// A consolidation that was made while fees were low waits for low fees again: it is not bumped.
func TestAConsolidationIsNotBumped(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.scatter(30, 2_000_000)
		r.Sender.ConsolidateAbove = 20
		r.Step()
		p := r.only()
		if p.Kind != string(chain.KindConsolidation) || p.Status != bursar.OutgoingSent {
			t.Fatalf("it is %+v, want %v and %v", p, string(chain.KindConsolidation), bursar.OutgoingSent)
		}
		r.Chain.SetRate(100)
		node := r.record()
		r.Blocks(6)
		if got := r.only(); got.Versions != 1 || len(node.built) > 0 || len(node.sent) != 6 {
			t.Errorf("it has %d versions, and is sent %d times, want 1 and none and 6 of them", got.Versions, len(node.sent))
		}
		r.Chain.SetRate(10)
		r.Settle()
	})
}

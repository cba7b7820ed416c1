package outgoing_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// signs makes the sender's signer record whose transactions it signs.
func (r *harness) signs() *[]bursar.ID {
	var ids []bursar.ID
	r.sender.Signer = signerFunc(func(c context.Context, id bursar.ChainID, request chain.TxRequest,
		unsigned chain.UnsignedTx) (chain.SignedTx, error) {
		ids = append(ids, request.ID)
		return r.signer.Sign(c, id, request, unsigned)
	})
	return &ids
}

// versionsFor counts the versions of the transaction that pays a withdrawal.
func (r *harness) versionsFor(w bursar.Withdrawal) int64 {
	return r.spendNow(r.now(w).OutgoingID).Versions
}

// A payment whose change another one has used keeps its fee: a bump would make the other one void. It is sent again.
func TestAPaymentWhoseChangeIsUsedIsNotBumped(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(3)
		r.step()
		first := r.order(100_000_000, r.chain.Named("one"))
		r.step()
		second := r.order(100_000_000, r.chain.Named("two"))
		r.step()
		r.chain.SetRate(50)
		node, signed := r.record(), r.signs()
		r.chain.Mine(3)
		r.step()
		if slices.Contains(*signed, r.now(first).OutgoingID) || r.versionsFor(first) != 1 {
			t.Errorf("the first is signed again, and has %d versions", r.versionsFor(first))
		}
		if !slices.Contains(node.sent, r.now(first).TxID) || r.versionsFor(second) != 2 {
			t.Errorf("a node is sent %q, and the second has %d versions", node.sent, r.versionsFor(second))
		}
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// Of two payments with consecutive nonces the first is bumped, and then the second, whose own fee is too low as well.
func TestAPaymentBehindABumpIsBumpedNext(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		first := r.order(100_000_000, r.chain.Named("first"))
		second := r.order(100_000_000, r.chain.Named("second"))
		r.step()
		r.chain.SetRate(100)
		node, signed := r.record(), r.signs()
		r.chain.Mine(3)
		r.step()
		if one, two := r.versionsFor(first), r.versionsFor(second); one != 2 || two > 2 {
			t.Errorf("after three blocks the first has %d versions and the second %d", one, two)
		}
		node.since()
		r.chain.SetRate(1000) // a block does not include these either
		r.chain.Mine(1)
		r.step()
		if got := r.versionsFor(second); got != 2 {
			t.Errorf("with the next block the second has %d versions; signed are %d", got, len(*signed))
		}
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// While a payment waits behind one that cannot be bumped, it is not signed again, and is sent again with each block.
func TestAPaymentBehindAStuckNonceIsSentAgain(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		first := r.order(100_000_000, r.chain.Named("first"))
		second := r.order(100_000_000, r.chain.Named("second"))
		r.step()
		r.chain.SetRate(100)
		refuses := 0
		stuck := refusing{r.signer, r.now(first).OutgoingID, &refuses}
		behind := 0
		r.sender.Signer = watched{stuck, func(chain.UnsignedTx) { behind++ }}
		node := r.record()
		r.trouble = true
		r.chain.Mine(3)
		r.catchUp()
		for range 3 {
			node.since()
			r.chain.Mine(1)
			r.step()
			if !slices.Contains(node.sent, r.now(second).TxID) || !slices.Contains(node.sent, r.now(first).TxID) {
				t.Errorf("a node is sent %q", node.sent)
			}
		}
		if behind != refuses || refuses == 0 || r.errorOf(second) != "" {
			t.Errorf("the signer is asked %d times, %d times for the first; the error of the second is %q",
				behind, refuses, r.errorOf(second))
		}
		r.sender.Signer = r.signer
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// errorOf returns the error of a withdrawal's outgoing transaction.
func (r *harness) errorOf(w bursar.Withdrawal) string { return r.spendNow(r.now(w).OutgoingID).Error }

// The bytes of a payment that a halt holds expire, which frees their nonce. A payment that waits behind that nonce is
// not bumped: no fee would bring it into a block before another transaction has that nonce.
func TestAPaymentBehindAFreeNonceIsNotBumped(t *testing.T) {
	config := bumping()
	config.Expiry = 14
	each(t, config, func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.halt(shortToken())
		r.chain.Mine(8)
		r.catchUp()
		order := r.order(100_000_000, r.chain.Named("coin"))
		r.step()
		free := 0
		for range 12 {
			r.chain.Mine(1)
			r.step()
			if p := r.spendNow(r.now(order).OutgoingID); r.now(held).OutgoingID.IsZero() && p.Status == bursar.OutgoingSent {
				free++
				if p.Versions != 1 {
					t.Fatalf("behind a free nonce it has %d versions", p.Versions)
				}
			}
		}
		if free < 3 {
			t.Errorf("it waited for %d blocks behind a free nonce", free)
		}
		r.resume(shortToken())
		r.settle()
		r.must(r.reconcile())
	})
}

// A voiding transaction shares the nonce of the held payment. That is no reason to wait: its own fee is bumped while it
// is too low.
func TestAVoidingTransactionIsBumped(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.halt(shortToken())
		w := r.order(100_000_000, r.chain.Named("coin"))
		r.step()
		r.step()
		r.chain.SetRate(1000)
		r.blocks(1)
		if list := r.fillers(); len(list) != 1 || list[0].Status != bursar.OutgoingSent {
			t.Fatalf("the voiding transaction is %+v", list)
		}
		node := r.record()
		r.blocks(3)
		if list := r.fillers(); len(list) != 1 || list[0].Versions != 2 {
			t.Errorf("the voiding transaction is %+v", list)
		}
		if slices.Contains(node.sent, r.now(held).TxID) {
			t.Error("a transaction being voided is sent")
		}
		r.chain.SetRate(10)
		r.blocks(12)
		if got := r.chain.Balance(r.chain.Named("coin"), ""); got != w.Amount {
			t.Errorf("of COIN %s was paid", got)
		}
		r.resume(shortToken())
		r.settle()
		r.nothingOpen()
	})
}

// A fee bump that does not use the resources of the first version could be included beside it. It is not signed.
func TestABumpThatSharesNothingWithTheFirstIsNotSigned(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		node.build = func(request chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
			if request.Replaces != nil {
				unsigned.Reservations = []string{r.hot.Base + "/77"}
			}
			return unsigned, err
		}
		signed := r.signs()
		r.chain.Mine(3)
		r.step()
		if got := r.only(); len(*signed) > 0 || got.Versions != 1 ||
			!strings.Contains(got.Error, "the replacement does not use the UTXOs or nonce") {
			t.Errorf("%d are signed, it has %d versions, and its error is %q", len(*signed), got.Versions, got.Error)
		}
		node.wantSent(t, "all the same", w.TxID)
		r.sender.Chain = r.chain
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// If a halt begins before a fee bump is built, no node is asked; if it begins before or while the bump is built, the
// signer is not asked.
func TestNothingIsSignedForABumpDuringAHalt(t *testing.T) {
	for name, during := range map[string]bool{"before it is built": false, "while it is built": true} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				w, node := r.waiting()
				halt := func() { r.halt(byAnn(store.HaltAll)) }
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
				r.chain.Mine(3)
				r.step()
				if len(*signed) > 0 || (len(node.built) > 0) != during {
					t.Errorf("%d are signed and %d built", len(*signed), len(node.built))
				}
				node.wantSent(t, "during the halt", w.TxID)
				if got := r.only().Error; !strings.Contains(got, "are halted by ann") {
					t.Errorf("its error is %q", got)
				}
				r.resume(byAnn(store.HaltAll))
				r.sender.Chain = r.chain
				r.settle()
				r.must(r.audit())
			})
		})
	}
}

// If a block includes the first version while the second is signed, the second is neither stored nor sent, and that is
// no error.
func TestABumpThatComesTooLateReachesNoNode(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		r.chain.Mine(3)
		r.catchUp()
		r.sender.Signer = watched{r.signer, func(chain.UnsignedTx) {
			r.chain.SetRate(10)
			r.chain.Mine(1)
			r.catchUp()
		}}
		r.must(r.sender.Step(ctx, r.lease))
		node.wantSent(t, "after the block")
		if got := r.only(); got.TxID != w.TxID || got.Versions != 1 || got.Height == 0 || got.Error != "" {
			t.Errorf("it is %+v", got)
		}
		r.settle()
		r.must(r.audit())
	})
}

// A consolidation that was made while fees were low waits for low fees again: it is not bumped.
func TestAConsolidationIsNotBumped(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.scatter(30, 2_000_000)
		r.sender.ConsolidateAbove = 20
		r.step()
		p := r.only()
		if p.Kind != string(chain.KindConsolidation) || p.Status != bursar.OutgoingSent {
			t.Fatalf("it is %+v", p)
		}
		r.chain.SetRate(100)
		node := r.record()
		r.blocks(6)
		if got := r.only(); got.Versions != 1 || len(node.built) > 0 || len(node.sent) != 6 {
			t.Errorf("it has %d versions, and is sent %d times", got.Versions, len(node.sent))
		}
		r.chain.SetRate(10)
		r.settle()
	})
}

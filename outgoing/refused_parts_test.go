package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A withdrawal that can never be paid, which is found out only when its transaction is built, fails with the adapter's
// reason, whether that names the payment or not: its money is refunded in full, and its account is notified.
func TestAWithdrawalThatCanNeverBeBuiltIsRefunded(t *testing.T) {
	for name, alone := range map[string]bool{"the payment": false, "the transaction": true} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				before := r.prepare()
				r.settle()
				r.notify(0, false, true, "https://shop.example/account")
				w := r.order(300_000_000, r.chain.Named("outside"))
				r.chain.RequireMemo(r.chain.Named("outside"))
				if alone {
					r.sender.Chain = building{r.chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
						return chain.UnsignedTx{}, &chain.RefusedError{Reason: "the address needs a memo"}
					}}
				}
				notified := 0
				r.sender.Settled = func() { notified++ }
				r.step()
				const why = "the address needs a memo"
				if got := r.now(w); got.Status != bursar.WithdrawalFailed || got.Error != why || got.CompletedAt.IsZero() {
					t.Errorf("it is %+v", got)
				}
				if got := r.available(0); got != before {
					t.Errorf("of %s the customer has %s", before, got)
				}
				if got := strings.Join(r.notified(0)[w.ID].words, " "); got != "failed" || notified != 1 {
					t.Errorf("its account was notified of %q, the deliveries were woken %d times", got, notified)
				}
				r.nothingOpen()
				if p := r.spendNow(r.now(w).OutgoingID); p.Status != bursar.OutgoingAbandoned || p.Error != why {
					t.Errorf("its transaction is %s: %s", p.Status, p.Error)
				}
				r.must(r.audit())
			})
		})
	}
}

// After a batch that was too big has been paid in parts, the next withdrawals are batched again.
func TestBatchesGrowAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.fund()
		r.sender.Chain = onlyAlone{r.chain}
		r.order(1_000_000, r.chain.Named("one"))
		r.order(1_000_000, r.chain.Named("two"))
		for range 4 {
			r.step()
		}
		r.sender.Chain = r.chain
		r.settle()
		a, b := r.order(1_000_000, r.chain.Named("three")), r.order(1_000_000, r.chain.Named("four"))
		r.step()
		if a, b = r.now(a), r.now(b); a.TxID == "" || a.TxID != b.TxID {
			t.Errorf("they are paid by %q and %q", a.TxID, b.TxID)
		}
		r.settle()
		r.must(r.audit())
	})
}

// If somebody removes a withdrawal from a batch in the database while the batch is built, and a payment of it is
// refused, it is not known whose that is: nobody is refunded who may be paid.
func TestARefusedPaymentOfAnAlteredBatchRefundsNobody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, utxoModel)
		attack := intruder(t, db)
		r.fund()
		var orders []bursar.Withdrawal
		for i := range 3 {
			orders = append(orders, r.order(1_000_000, r.chain.Named(fmt.Sprint("receiver ", i))))
		}
		r.sender.Chain = building{r.chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
			attack(`UPDATE withdrawals SET outgoing_id = NULL WHERE id = $1`, orders[0].ID)
			refused := &chain.RefusedError{Reason: "no"}
			return chain.UnsignedTx{}, &chain.RefusedPaymentsError{Refused: refused, Payments: []int{1}}
		}}
		r.step()
		if text := r.errors(); !strings.Contains(text, "its request has 3 payments for 2 withdrawals") {
			t.Errorf("its error is %q", text)
		}
		for _, w := range orders {
			if got := r.now(w).Status; got != bursar.WithdrawalQueued {
				t.Errorf("a withdrawal is %s", got)
			}
		}
	})
}

// errLate is an adapter's error about a nonce that somebody else has used.
var errLate = fmt.Errorf("nonce 1 is used: %w", chain.ErrExternalNonce)

// If somebody else signs with our key and the adapter is the first to see it, the whole chain is halted and an alarm
// says so, until an operator ends the halt. The alarm about that transaction closes with the payment.
func TestANonceThatOthersUsedHaltsTheChain(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("outside"))
		asks := 0
		r.sender.Chain = building{r.chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
			asks++
			return chain.UnsignedTx{}, errLate
		}}
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, chain.ErrExternalNonce) {
			t.Errorf("the step returned %v", err)
		}
		r.wantAlarms("external_nonce")
		id := r.now(w).OutgoingID.String()
		halt := store.Halt{Scope: store.HaltChain(r.chain.Capabilities().ID), Kind: store.HaltByExternalSpend, Ref: id}
		r.view(func(tx *store.Tx) error {
			halts, err := tx.Halts().Of(ctx, halt.Scope)
			if len(halts) != 1 || halts[0].Kind != halt.Kind || halts[0].Ref != id ||
				!strings.Contains(halts[0].Reason, "nonce 1 is used") {
				t.Errorf("the halts of the chain are %+v", halts)
			}
			return err
		})
		r.step()
		if asks != 1 {
			t.Errorf("the adapter was asked %d times", asks)
		}
		r.sender.Chain = r.chain
		r.resume(halt)
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("after the halt it is %s", got)
		}
		r.wantAlarms()
		r.must(r.audit())
	})
}

// A process that lost the lease while it built a transaction halts nothing: the new lease holder may have used that
// nonce itself.
func TestANonceOfTheNextLeaseHolderHaltsNothing(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.order(300_000_000, r.chain.Named("outside"))
		r.sender.Chain = building{r.chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
			r.overthrow()
			return chain.UnsignedTx{}, errLate
		}}
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v", err)
		}
		r.wantAlarms()
		r.view(func(tx *store.Tx) error {
			halts, err := tx.Halts().List(ctx)
			if len(halts) > 0 {
				t.Errorf("the halts are %+v", halts)
			}
			return err
		})
	})
}

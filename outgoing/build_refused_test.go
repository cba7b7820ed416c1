package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
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
				before := r.Prepare()
				r.Settle()
				r.Notify(0, false, true, "https://shop.example/account")
				w := r.Order(300_000_000, r.Chain.Named("outside"))
				r.Chain.RequireMemo(r.Chain.Named("outside"))
				if alone {
					r.Sender.Chain = building{r.Chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
						return chain.UnsignedTx{}, &chain.RefusedError{Reason: "the address needs a memo"}
					}}
				}
				notified := 0
				r.Sender.EventsRecorded = func() { notified++ }
				r.Step()
				const why = "the address needs a memo"
				if got := r.Now(w); got.Status != bursar.WithdrawalFailed || got.Error != why || got.CompletedAt.IsZero() {
					t.Errorf("the withdrawal is %+v, want %v and %v and not zero", got, bursar.WithdrawalFailed, why)
				}
				if got := r.Available(0); got != before {
					t.Errorf("of %s the customer has %s", before, got)
				}
				if got := strings.Join(r.Notified(0)[w.ID].Words, " "); got != "failed" || notified != 1 {
					t.Errorf("its account was notified of %q, the deliveries were woken %d times, want %q and 1", got, notified,
						"failed")
				}
				r.NothingOpen()
				if p := r.spendNow(r.Now(w).OutgoingID); p.Status != bursar.OutgoingAbandoned || p.Error != why {
					t.Errorf("its transaction is %s: %s, want %s and %s", p.Status, p.Error, bursar.OutgoingAbandoned, why)
				}
				r.Must(r.Audit())
			})
		})
	}
}

// After a batch that was too big has been paid in parts, the next withdrawals are batched again.
func TestBatchesGrowAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Fund()
		r.Sender.Chain = onlyAlone{r.Chain}
		r.Order(1_000_000, r.Chain.Named("one"))
		r.Order(1_000_000, r.Chain.Named("two"))
		for range 4 {
			r.Step()
		}
		r.Sender.Chain = r.Chain
		r.Settle()
		a, b := r.Order(1_000_000, r.Chain.Named("three")), r.Order(1_000_000, r.Chain.Named("four"))
		r.Step()
		if a, b = r.Now(a), r.Now(b); a.TxID == "" || a.TxID != b.TxID {
			t.Errorf("they are paid by %q and %q", a.TxID, b.TxID)
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// If somebody removes a withdrawal from a batch in the database while the batch is built, and a payment of it is
// refused, it is not known whose that is: nobody is refunded who may be paid.
func TestARefusedPaymentOfAnAlteredBatchRefundsNobody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, bursartest.UTXOModel)
		attack := intruder(t, db)
		r.Fund()
		var orders []bursar.Withdrawal
		for i := range 3 {
			orders = append(orders, r.Order(1_000_000, r.Chain.Named(fmt.Sprint("receiver ", i))))
		}
		r.Sender.Chain = building{r.Chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
			attack(`UPDATE withdrawals SET outgoing_id = NULL WHERE id = $1`, orders[0].ID)
			refused := &chain.RefusedError{Reason: "no"}
			return chain.UnsignedTx{}, &chain.RefusedPaymentsError{Refused: refused, Payments: []int{1}}
		}}
		r.Step()
		if text := r.errors(); !strings.Contains(text, "the transaction request has 3 payments for 2 withdrawals") {
			t.Errorf("its error is %q, want one with %q", text, "the transaction request has 3 payments for 2 withdrawals")
		}
		for _, w := range orders {
			if got := r.Now(w).Status; got != bursar.WithdrawalQueued {
				t.Errorf("a withdrawal is %s, want %s", got, bursar.WithdrawalQueued)
			}
		}
	})
}

// errLate is an adapter's error about a nonce that somebody else has used.
var errLate = fmt.Errorf("nonce 1 is used: %w", chain.ErrExternalNonce)

// If somebody else signs with our key and the adapter is the first to see it, the whole chain is halted and an alarm
// says so, until an operator ends the halt. The alarm about that transaction closes with the payment.
func TestANonceThatOthersUsedHaltsTheChain(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		asks := 0
		r.Sender.Chain = building{r.Chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
			asks++
			return chain.UnsignedTx{}, errLate
		}}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, chain.ErrExternalNonce) {
			t.Errorf("the step returned %v, want %v", err, chain.ErrExternalNonce)
		}
		r.WantAlarms("external_nonce")
		id := r.Now(w).OutgoingID.String()
		halt := store.Halt{Scope: store.HaltChain(r.Chain.Capabilities().ID), Kind: store.HaltByExternalSpend, Ref: id}
		r.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().Of(ctx, halt.Scope)
			if len(halts) != 1 || halts[0].Kind != halt.Kind || halts[0].Ref != id ||
				!strings.Contains(halts[0].Reason, "nonce 1 is used") {
				t.Errorf("the halts of the chain are %+v, want 1 of them and %v and %v and %q in it", halts, halt.Kind, id,
					"nonce 1 is used")
			}
			return err
		})
		r.Step()
		if asks != 1 {
			t.Errorf("the adapter was asked %d times, want 1", asks)
		}
		r.Sender.Chain = r.Chain
		r.Resume(halt)
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("after the halt the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// A process that lost the lease while it built a transaction halts nothing: the new lease holder may have used that
// nonce itself.
func TestANonceOfTheNextLeaseHolderHaltsNothing(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Order(300_000_000, r.Chain.Named("outside"))
		r.Sender.Chain = building{r.Chain, func(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
			r.overthrow()
			return chain.UnsignedTx{}, errLate
		}}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		r.WantAlarms()
		r.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().List(ctx)
			if len(halts) > 0 {
				t.Errorf("the halts are %+v, want none", halts)
			}
			return err
		})
	})
}

package outgoing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// If a payment is in a block that the follower has not read, an operator who asks learns that, a resolution that
// contradicts the chain is refused, and the payment is settled once.
func TestAPaymentThatTheChainShowsIsSettled(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		r.settle()
		w := r.order(300_000_000, to)
		r.step()
		w = r.now(w)
		r.chain.Mine(1)
		ask := func(with outgoing.Resolution) (string, error) {
			return r.sender.Resolve(ctx, w.OutgoingID, r.chain, with)
		}
		for name, word := range map[string]outgoing.Resolution{"never paid": {NeverPaid: true, Reason: "x"},
			"another": {Paid: "another", Reason: "x"}} {
			if _, err := ask(word); !errors.Is(err, outgoing.ErrDisputed) {
				t.Errorf("%s: the chain's proof does not count: %v", name, err)
			}
		}
		if what, err := ask(outgoing.Resolution{Paid: w.TxID, Reason: "an explorer"}); err != nil ||
			!strings.Contains(what, "as the chain shows") {
			t.Errorf("it became %q (%v)", what, err)
		}
		if _, err := ask(outgoing.Resolution{}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("it is resolved twice: %v", err)
		}
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		r.nothingOpen()
	})
}

// A transaction that is being made void, the transaction that voids it, and a settled one cannot be made void: of two
// operators the second is refused.
func TestATransactionIsMadeVoidOnlyOnce(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		if _, err := r.sender.Abandon(ctx, w.OutgoingID, outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("it is made void twice: %v", err)
		}
		for _, p := range r.open() {
			if p.ID == w.OutgoingID {
				continue
			}
			r.step()
			if _, err := r.sender.Abandon(ctx, p.ID, outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
				t.Errorf("a voiding transaction is made void itself: %v", err)
			}
		}
		r.once(w, before, to)
		if _, err := r.sender.Abandon(ctx, r.now(w).OutgoingID,
			outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("a settled transaction is made void: %v", err)
		}
	})
}

// While a currency is suspended, nothing of it is built, other currencies are paid, and its withdrawals are paid
// afterwards.
func TestASuspendedCurrencyIsNotPaid(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		w := r.order(100_000_000, r.chain.Named("outside"))
		suspended := "of a test"
		r.sender.Suspended = func(code bursar.CurrencyCode) string { return suspended }
		for range 3 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.now(w); got.Status != bursar.WithdrawalQueued || !got.OutgoingID.IsZero() {
			t.Errorf("it is %s, assigned: %v", got.Status, !got.OutgoingID.IsZero())
		}
		suspended = ""
		r.withoutSigner(func() {
			r.trouble = true
			r.step() // it is assigned
		})
		suspended = "again"
		r.step()
		r.step()
		if got := r.now(w); got.Status == bursar.WithdrawalConfirmed {
			t.Errorf("it is %s", got.Status)
		}
		suspended = ""
		r.trouble = false
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("it is %s", got)
		}
		r.must(r.audit())
	})
}

// While a chain's payments are halted, none of its queued withdrawals is assigned, so that they can still be cancelled.
func TestAHaltedChainAssignsNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		halt := byAnn(store.HaltChain(r.chain.Capabilities().ID))
		r.halt(halt)
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		if got := r.now(w); got.Status != bursar.WithdrawalQueued || !got.OutgoingID.IsZero() {
			t.Errorf("it is %s, assigned: %v", got.Status, !got.OutgoingID.IsZero())
		}
		r.nothingOpen()
		r.resume(halt)
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("it is %s", got)
		}
	})
}

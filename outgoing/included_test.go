package outgoing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// If a payment is in a block that the follower has not read, an operator who asks learns that, a resolution that
// contradicts the chain is refused, and the payment is settled once.
func TestAPaymentThatTheChainShowsIsSettled(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		r.Settle()
		w := r.Order(300_000_000, to)
		r.Step()
		w = r.Now(w)
		r.Chain.Mine(1)
		ask := func(with outgoing.Resolution) (string, error) {
			return r.Sender.Resolve(ctx, w.OutgoingID, r.Chain, with)
		}
		for name, word := range map[string]outgoing.Resolution{"never paid": {NeverPaid: true, Reason: "x"},
			"another": {Paid: "another", Reason: "x"}} {
			if _, err := ask(word); !errors.Is(err, outgoing.ErrDisputed) {
				t.Errorf("%s: the chain's proof does not count: %v, want %v", name, err, outgoing.ErrDisputed)
			}
		}
		if what, err := ask(outgoing.Resolution{Paid: w.TxID, Reason: "an explorer"}); err != nil ||
			!strings.Contains(what, "as the chain shows") {
			t.Errorf("it became %q (%v), want one with %q", what, err, "as the chain shows")
		}
		if _, err := ask(outgoing.Resolution{}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("it is resolved twice: %v, want %v", err, outgoing.ErrNotOpen)
		}
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		r.NothingOpen()
	})
}

// A transaction that is being made void, the transaction that voids it, and a settled one cannot be made void: of two
// operators the second is refused.
func TestATransactionIsMadeVoidOnlyOnce(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		if _, err := r.Sender.Abandon(ctx, w.OutgoingID, outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("it is made void twice: %v, want %v", err, outgoing.ErrCannotBeVoid)
		}
		for _, p := range r.Open() {
			if p.ID == w.OutgoingID {
				continue
			}
			r.Step()
			if _, err := r.Sender.Abandon(ctx, p.ID, outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrCannotBeVoid) {
				t.Errorf("a voiding transaction is made void itself: %v, want %v", err, outgoing.ErrCannotBeVoid)
			}
		}
		r.once(w, before, to)
		if _, err := r.Sender.Abandon(ctx, r.Now(w).OutgoingID,
			outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("a settled transaction is made void: %v, want %v", err, outgoing.ErrNotOpen)
		}
	})
}

// While a currency is suspended, nothing of it is built, other currencies are paid, and its withdrawals are paid
// afterwards.
func TestASuspendedCurrencyIsNotPaid(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		suspended := "of a test"
		r.Sender.Suspended = func(code bursar.CurrencyCode) string { return suspended }
		for range 3 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalQueued || !got.OutgoingID.IsZero() {
			t.Errorf("the withdrawal is %s, assigned: %v, want %v and zero", got.Status, !got.OutgoingID.IsZero(),
				bursar.WithdrawalQueued)
		}
		suspended = ""
		r.withoutSigner(func() {
			r.Trouble = true
			r.Step() // it is assigned
		})
		suspended = "again"
		r.Step()
		r.Step()
		if got := r.Now(w); got.Status == bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", got.Status)
		}
		suspended = ""
		r.Trouble = false
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Must(r.Audit())
	})
}

// While a chain's payments are halted, none of its queued withdrawals is assigned, so that they can still be cancelled.
func TestAHaltedChainAssignsNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		halt := byAnn(store.HaltChain(r.Chain.Capabilities().ID))
		r.Halt(halt)
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		if got := r.Now(w); got.Status != bursar.WithdrawalQueued || !got.OutgoingID.IsZero() {
			t.Errorf("the withdrawal is %s, assigned: %v, want %v and zero", got.Status, !got.OutgoingID.IsZero(),
				bursar.WithdrawalQueued)
		}
		r.NothingOpen()
		r.Resume(halt)
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}

package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// A payment that was assigned to an outgoing transaction before its currency was suspended is not built, and its error
// says why; it goes on after the suspension.
func TestAPaymentOfASuspendedCurrencyIsNotBuilt(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		r.Chain.Fail(sim.Build, 1, errors.New("no answer"))
		r.Trouble = true
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		if got := r.only(); got.Status != bursar.OutgoingNew || !strings.Contains(got.Error, "no answer") ||
			strings.Contains(got.Error, "no stored version") {
			t.Fatalf("it is %s: %q, want %v and %q in it and no %q", got.Status, got.Error, bursar.OutgoingNew, "no answer",
				"no stored version")
		}
		reason := "its issuer has been hacked"
		r.Sender.Suspended = func(bursar.CurrencyCode) string { return reason }
		node := r.record()
		r.Step()
		if got := r.only(); len(node.built) > 0 || !strings.Contains(got.Error, "COIN is suspended: "+reason) {
			t.Errorf("%d are built, and its error is %q, want none and %v in it", len(node.built), got.Error,
				"COIN is suspended: "+reason)
		}
		reason = ""
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("in the end the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}

// During a halt of the chain no queued withdrawal is assigned, and no outgoing transaction is built that was requested
// before.
func TestNothingIsAssignedOrBuiltDuringAHalt(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		r.Trouble = true
		r.Chain.Fail(sim.Build, 1, nil)
		r.Order(1_000_000, r.Chain.Named("taken up"))
		r.Step()
		r.Halt(byAnn(store.HaltChain(r.Chain.Capabilities().ID)))
		r.Order(1_000_000, r.Chain.Named("queued"))
		node := r.record()
		r.Step()
		if got := r.only(); len(node.built) > 0 || !strings.Contains(got.Error, "halted by ann") {
			t.Errorf("%d are built, and its error is %q, want none and %q in it", len(node.built), got.Error, "halted by ann")
		}
		r.Resume(byAnn(store.HaltChain(r.Chain.Capabilities().ID)))
		r.Settle()
		r.Must(r.Audit())
	})
}

// The reason why a payment cannot be signed is stored with it, and is cleared once it no longer applies.
func TestTheReasonWhyAPaymentIsNotSignedIsStored(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		r.Trouble = true
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.withoutSigner(func() {
			for range 2 {
				r.Step()
				if got := r.only(); got.Status != bursar.OutgoingReserved ||
					!strings.Contains(got.Error, "the signer is unavailable") {
					t.Errorf("the outgoing transaction is %s: %q, want %s and one with %q",
						got.Status, got.Error, bursar.OutgoingReserved, "the signer is unavailable")
				}
			}
		})
		r.Step()
		if got := r.only(); got.Error != "" || r.Now(w).Status != bursar.WithdrawalBroadcast {
			t.Errorf("with the signer it is %s: %q, want %q and %v", got.Status, got.Error, "", bursar.WithdrawalBroadcast)
		}
		r.Settle()
	})
}

// An outgoing transaction that ends before it is signed ends with its reason, and its bytes are not asked for: a
// payment that can never be made, a batch that is retried in smaller batches, a sweep that is not worth its fee, and a
// sweep whose deposit was reorged out.
func TestATransactionThatEndsUnsignedKeepsItsReason(t *testing.T) {
	ended := func(t *testing.T, r *harness, id bursar.ID, reason string) {
		t.Helper()
		got := r.spendNow(id)
		if got.Status != bursar.OutgoingAbandoned || !strings.Contains(got.Error, reason) ||
			(got.Error == "") != (reason == "") {
			t.Errorf("it is %s: %q, want %q", got.Status, got.Error, reason)
		}
	}
	// taken runs one step that makes an outgoing transaction which is not built yet.
	taken := func(r *harness) bursar.ID {
		r.T.Helper()
		r.Trouble = true
		r.Chain.Fail(sim.Build, 1, nil)
		r.Step()
		return r.only().ID
	}
	t.Run("refused", func(t *testing.T) {
		both(t, func(t *testing.T, r *harness) {
			r.Fund()
			r.Settle()
			w := r.Order(1_000_000, r.Chain.Named("outside"))
			id := taken(r)
			r.Chain.RequireMemo(r.Chain.Named("outside"))
			r.Step()
			ended(t, r, id, "the address needs a memo")
			if got := r.Now(w).Status; got != bursar.WithdrawalFailed {
				t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalFailed)
			}
		})
	})
	t.Run("a smaller batch", func(t *testing.T) {
		each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
			r.Fund()
			r.Settle()
			for range 4 {
				r.Order(1_000_000, r.Chain.Named("outside"))
			}
			id := taken(r)
			refuses := true
			r.Sender.Signer = bursartest.SignerFunc(func(c context.Context, chainID bursar.ChainID, request chain.TxRequest,
				unsigned chain.UnsignedTx) (chain.SignedTx, error) {
				if refuses {
					return chain.SignedTx{}, &signer.RefusalError{Reason: signer.ReasonQuota}
				}
				return r.Signer.Sign(c, chainID, request, unsigned)
			})
			r.Check(r.Sender.Step(ctx, r.Lease))
			ended(t, r, id, string(signer.ReasonQuota))
			refuses = false
			r.Step()
			if request, err := outgoing.DecodeRequest(r.only()); err != nil || len(request.Payments) != 2 {
				t.Errorf("the next one has %d payments, want 2 of them", len(request.Payments))
			}
			r.Settle()
			r.Must(r.Audit())
		})
	})
	t.Run("not worth its fee", func(t *testing.T) {
		each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
			r.Step()
			r.Pay(r.Wallet(0).Address, 10_000_000)
			r.Chain.Mine(3)
			r.Step() // requested
			id := r.only().ID
			r.Chain.SetRate(1000)
			r.Step()
			ended(t, r, id, "")
		})
	})
	t.Run("its deposit is gone", func(t *testing.T) {
		each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
			r.Step()
			gone := r.Pay(r.Wallet(0).Address, 10_000_000)
			r.Chain.Mine(3)
			r.Step()
			id := r.only().ID
			r.Undo(gone, gone)
			r.CatchUp()
			node := r.record()
			r.Must(r.Sender.Step(ctx, r.Lease))
			ended(t, r, id, "")
			if len(node.built) > 0 {
				t.Error("it is built, want none")
			}
		})
	})
}

// A token at the address of a hanging sweep is given to that sweep: the sweep that was requested for it ends without
// being built or signed.
func TestASweepThatIsGivenAwayIsNotBuilt(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens()
		w := r.hung()
		hangs := r.only().ID
		r.Give("TOKEN", w.Address, 50_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Must(r.Sweeper.Step(ctx, r.Lease))
		if len(r.Open()) != 2 {
			t.Fatalf("open are %+v, want 2 of them", r.Open())
		}
		fresh := r.Open()[1].ID
		r.Must(r.Sender.Step(ctx, r.Lease))
		if got := r.spendNow(fresh); got.Status != bursar.OutgoingAbandoned || got.Error != "" || len(got.Unsigned) > 0 {
			t.Errorf("the outgoing transaction is %s: %q, want %v and %q and none", got.Status, got.Error,
				bursar.OutgoingAbandoned, "")
		}
		if got := r.only(); got.ID != hangs || got.Currency != "TOKEN" {
			t.Errorf("what hung is %s of %s, want %v and %q", got.Kind, got.Currency, hangs, "TOKEN")
		}
	})
}

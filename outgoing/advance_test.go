package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// A payment that was taken up before its currency was suspended is not drafted any more, and the operator reads why; it
// goes on after that.
func TestAPaymentOfASuspendedCurrencyIsNotBuilt(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		r.chain.Fail(sim.Build, 1, errors.New("no answer"))
		r.trouble = true
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		if got := r.only(); got.Status != bursar.OutgoingNew || !strings.Contains(got.Error, "no answer") ||
			strings.Contains(got.Error, "no stored transaction") {
			t.Fatalf("it is %s: %q", got.Status, got.Error)
		}
		reason := "its issuer has been hacked"
		r.sender.Suspended = func(bursar.CurrencyCode) string { return reason }
		node := r.record()
		r.step()
		if got := r.only(); len(node.built) > 0 || !strings.Contains(got.Error, "COIN is suspended: "+reason) {
			t.Errorf("%d are drafted, and %q is read", len(node.built), got.Error)
		}
		reason = ""
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("in the end it is %s", got)
		}
	})
}

// During the halt of a chain nothing is taken up from the queue and nothing is drafted that was taken up before.
func TestNothingIsTakenUpOrBuiltDuringAHalt(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		r.trouble = true
		r.chain.Fail(sim.Build, 1, nil)
		r.order(1_000_000, r.chain.Named("taken up"))
		r.step()
		r.halt(byAnn(store.HaltChain(r.chain.Capabilities().ID)))
		r.order(1_000_000, r.chain.Named("queued"))
		node := r.record()
		r.step()
		if got := r.only(); len(node.built) > 0 || !strings.Contains(got.Error, "halted by ann") {
			t.Errorf("%d are drafted, and %q is read", len(node.built), got.Error)
		}
		r.resume(byAnn(store.HaltChain(r.chain.Capabilities().ID)))
		r.settle()
		r.must(r.audit())
	})
}

// What keeps a payment from being signed is read beside it, and is gone once it is over.
func TestWhatKeepsAPaymentFromBeingSignedIsRead(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		r.trouble = true
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.withoutSigner(func() {
			for range 2 {
				r.step()
				if got := r.only(); got.Status != bursar.OutgoingReserved || !strings.Contains(got.Error, "the signer is away") {
					t.Errorf("it is %s: %q", got.Status, got.Error)
				}
			}
		})
		r.step()
		if got := r.only(); got.Error != "" || r.now(w).Status != bursar.WithdrawalBroadcast {
			t.Errorf("with the signer it is %s: %q", got.Status, got.Error)
		}
		r.settle()
	})
}

// What ends before it is signed ends with the reason that it had, and is not asked for its bytes: a payment that can
// never be made, a batch that is tried in smaller company, a sweep that is not worth its fee, and one whose deposit was
// reorged out.
func TestWhatEndsUnsignedKeepsItsReason(t *testing.T) {
	ended := func(t *testing.T, r *harness, id bursar.ID, reason string) {
		t.Helper()
		got := r.spendNow(id)
		if got.Status != bursar.OutgoingAbandoned || !strings.Contains(got.Error, reason) ||
			(got.Error == "") != (reason == "") {
			t.Errorf("it is %s: %q, want %q", got.Status, got.Error, reason)
		}
	}
	// taken has one step take something up that is not drafted yet.
	taken := func(r *harness) bursar.ID {
		r.t.Helper()
		r.trouble = true
		r.chain.Fail(sim.Build, 1, nil)
		r.step()
		return r.only().ID
	}
	t.Run("refused", func(t *testing.T) {
		both(t, func(t *testing.T, r *harness) {
			r.fund()
			r.settle()
			w := r.order(1_000_000, r.chain.Named("outside"))
			id := taken(r)
			r.chain.RequireMemo(r.chain.Named("outside"))
			r.step()
			ended(t, r, id, "the address needs a memo")
			if got := r.now(w).Status; got != bursar.WithdrawalFailed {
				t.Errorf("the withdrawal is %s", got)
			}
		})
	})
	t.Run("smaller company", func(t *testing.T) {
		each(t, coined, func(t *testing.T, r *harness) {
			r.fund()
			r.settle()
			for range 4 {
				r.order(1_000_000, r.chain.Named("outside"))
			}
			id := taken(r)
			refuses := true
			r.sender.Signer = signerFunc(func(c context.Context, chainID bursar.ChainID, order chain.TxRequest,
				unsigned chain.UnsignedTx) (chain.SignedTx, error) {
				if refuses {
					return chain.SignedTx{}, &signer.RefusalError{Reason: signer.ReasonPace}
				}
				return r.signer.Sign(c, chainID, order, unsigned)
			})
			r.check(r.sender.Step(ctx, r.lease))
			ended(t, r, id, string(signer.ReasonPace))
			refuses = false
			r.step()
			if order, err := outgoing.Order(r.only()); err != nil || len(order.Payments) != 2 {
				t.Errorf("the next one has %d payments", len(order.Payments))
			}
			r.settle()
			r.must(r.audit())
		})
	})
	t.Run("not worth its fee", func(t *testing.T) {
		each(t, numbered, func(t *testing.T, r *harness) {
			r.step()
			r.pay(r.wallet(0).Address, 10_000_000)
			r.chain.Mine(3)
			r.step() // ordered
			id := r.only().ID
			r.chain.SetRate(1000)
			r.step()
			ended(t, r, id, "")
		})
	})
	t.Run("its deposit is gone", func(t *testing.T) {
		each(t, numbered, func(t *testing.T, r *harness) {
			r.step()
			gone := r.pay(r.wallet(0).Address, 10_000_000)
			r.chain.Mine(3)
			r.step()
			id := r.only().ID
			r.undo(gone, gone)
			r.catchUp()
			node := r.record()
			r.must(r.sender.Step(ctx, r.lease))
			ended(t, r, id, "")
			if len(node.built) > 0 {
				t.Error("it is drafted")
			}
		})
	})
}

// A token at the address of a sweep that hangs is given to that sweep: what was ordered for it ends without being
// drafted or signed.
func TestASweepThatIsGivenAwayIsNotBuilt(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens()
		w := r.hung()
		hangs := r.only().ID
		r.give("TOKEN", w.Address, 50_000)
		r.chain.Mine(3)
		r.catchUp()
		r.must(r.sweeper.Step(ctx, r.lease))
		if len(r.open()) != 2 {
			t.Fatalf("open are %+v", r.open())
		}
		fresh := r.open()[1].ID
		r.must(r.sender.Step(ctx, r.lease))
		if got := r.spendNow(fresh); got.Status != bursar.OutgoingAbandoned || got.Error != "" || len(got.Unsigned) > 0 {
			t.Errorf("it is %s: %q", got.Status, got.Error)
		}
		if got := r.only(); got.ID != hangs || got.Currency != "TOKEN" {
			t.Errorf("what hung is %s of %s", got.Kind, got.Currency)
		}
	})
}

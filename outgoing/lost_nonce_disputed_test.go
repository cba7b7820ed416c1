package outgoing_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
)

// lasting is a chain that never says that a transaction can be included no more, as those of Ethereum do not.
type lasting struct{ *sim.Chain }

func (lasting) Expired(context.Context, chain.UnsignedTx, string) (bool, error) { return false, nil }

// dispute is a nonce for which two replicas, each with marks of its own, have signed: the second one a payment that the
// database has lost, and the first one what uses the nonce up, or another payment.
type dispute struct {
	lost, kept bursar.Withdrawal
	raw        chain.SignedTx // the lost payment
	by         bursar.OutgoingTx
}

// disputes has the second replica sign a payment, and the first one another with the nonce after it. The database is
// restored from before both, and the first replica goes on with it; only after that the second one does.
func (r *harness) disputes(meanwhile func(d dispute) bursar.OutgoingTx, above bool) (d dispute) {
	r.T.Helper()
	first, second := filepath.Join(r.T.TempDir(), "first"), filepath.Join(r.T.TempDir(), "second")
	r.Guarded(first)
	two := r.Guard(second)
	r.Must(two.Join(ctx))
	r.Prepare()
	r.Pay(r.Wallet(1).Address, 1_000_000_000)
	r.Settle()
	d.lost = r.Order(300_000_000, r.Chain.Named("first"))
	d.kept = r.OrderOf(1, "COIN", 200_000_000, r.Chain.Named("second"))
	r.Halt(r.FreezeOf(1))
	before, holder := r.Backup(), r.Lease.Holder
	r.Restart()
	two = r.Guarded(second)
	r.Trouble = true
	r.Chain.FailBroadcasts(sim.LostUnknown, 10_000)
	r.Step()
	d.raw = r.version(r.Now(d.lost).TxID)
	r.Restart()
	r.Guarded(first)
	if above {
		r.Resume(r.FreezeOf(1))
		r.Step()
	}
	for range 50 {
		r.Must(two.Compare(ctx)) // its marks have counted more looks than those of the first
	}
	r.Lease.Holder = holder
	r.Revive(before, first)
	r.Sender.Chain = lasting{r.Chain}
	r.Follower.Wait = chain.Lifetime{Blocks: 5}
	r.Halt(r.FreezeOf(0))
	r.Resume(r.FreezeOf(1))
	d.by = meanwhile(d)
	if d.by.TxID == "" {
		r.T.Fatal("nothing else is signed with the nonce")
	}
	r.Restart()
	r.Sender.Chain = lasting{r.Chain}
	r.Guarded(second)
	r.Follower.Wait = chain.Lifetime{Blocks: 5}
	r.Resume(r.FreezeOf(0))
	r.Blocks(12)
	if got := r.Now(d.lost).TxID; got != d.raw.TxID {
		r.T.Fatalf("the payment is made by %q, want %s, which is put back", got, d.raw.TxID)
	}
	return d
}

// ends checks that both payments are made once, and that nothing is left.
func (r *harness) ends(d dispute) {
	r.T.Helper()
	r.Trouble = false
	r.Settle()
	r.paidBothOnce(gap{lost: d.lost, kept: d.kept})
	r.Must(r.Audit())
}

// sentBy lets nodes have one transaction, and nothing else that was signed, until it is in a block.
func (r *harness) sentBy(raw chain.SignedTx) {
	r.T.Helper()
	r.Chain.ClearFaults()
	r.Chain.Forget()
	r.Must(r.Chain.Broadcast(ctx, raw))
	r.Chain.Mine(1)
}

// usedUp is a lost nonce that the first replica is using up.
func (r *harness) usedUp(dispute) bursar.OutgoingTx {
	r.T.Helper()
	r.untilFilling(r.Hot.Base)
	r.Step()
	return r.filling(r.Hot.Base)[0]
}

// A payment is put back beside what uses its nonce up as a lost one, because the marks that know it come back only
// then. One of the two is included, and the other one ends: the payment is made once.
func TestWhatUsesUpANonceAndWhatHadItEnd(t *testing.T) {
	for name, included := range map[string]func(r *harness, d dispute) chain.SignedTx{
		"that is final":  func(r *harness, d dispute) chain.SignedTx { return r.version(d.by.TxID) },
		"the payment is": func(_ *harness, d dispute) chain.SignedTx { return d.raw },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				d := r.disputes(r.usedUp, true)
				r.sentBy(included(r, d))
				r.ends(d)
			})
		})
	}
}

// paidInstead is another payment that the first replica makes with the nonce, of which it knows nothing.
func (r *harness) paidInstead(d dispute) bursar.OutgoingTx {
	r.T.Helper()
	for range 20 {
		if r.Now(d.kept).TxID != "" {
			break
		}
		r.Blocks(1)
	}
	return r.spendNow(r.Now(d.kept).OutgoingID)
}

// Two replicas have paid different withdrawals with one UTXO or nonce. One of the two is included, and the other
// withdrawal is paid by another transaction.
func TestOfTwoPaymentsWithOneReservationTheOtherIsMadeAgain(t *testing.T) {
	for name, included := range map[string]func(r *harness, d dispute) chain.SignedTx{
		"the newer one is included": func(r *harness, d dispute) chain.SignedTx { return r.version(d.by.TxID) },
		"the older one is included": func(_ *harness, d dispute) chain.SignedTx { return d.raw },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				d := r.disputes(r.paidInstead, false)
				r.sentBy(included(r, d))
				r.ends(d)
			})
		})
	}
}

// As above, and an operator has one of the two made void, by a transaction that is not signed yet when the other one is
// final: it has nothing left to void, and ends too.
func TestWhatIsToVoidOneOfTwoPaymentsEndsWithIt(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		d := r.disputes(r.paidInstead, false)
		r.Chain.Fail(sim.Build, 10_000, nil)
		by, err := r.Sender.Abandon(ctx, d.by.ID, outgoing.Abandonment{Reason: "a test", Actor: "ann"})
		r.Must(err)
		r.sentBy(d.raw)
		r.Chain.Fail(sim.Build, 10_000, nil)
		r.Blocks(12)
		r.Chain.ClearFaults()
		r.ends(d)
		if p := r.spendNow(by); p.Status != bursar.OutgoingAbandoned || p.Error == "" {
			t.Errorf("what was to void it is %s: %q, want %s and why", p.Status, p.Error, bursar.OutgoingAbandoned)
		}
	})
}

// The blocks in which one of two payments was final are replaced, and the new ones have the other one, which had ended:
// that halts the chain, and the first one, whose nonce is used now, ends in its turn.
func TestOfTwoPaymentsThatChangePlacesTheOtherEnds(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		d := r.disputes(r.paidInstead, false)
		ended := r.Now(d.lost).OutgoingID
		r.Halt(r.FreezeOf(0)) // what the one that ends pays waits
		below := r.tip()
		r.sentBy(r.version(d.by.TxID))
		r.Blocks(12)
		if p := r.spendNow(ended); p.Status != bursar.OutgoingAbandoned {
			t.Fatalf("the first one is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
		r.Chain.Reorg(int(r.tip()-below), d.by.TxID)
		r.sentBy(d.raw)
		r.Blocks(20)
		if !r.alarmed("abandoned_included") {
			t.Error("no alarm says that it is in a block after all")
		}
		if p := r.spendNow(d.by.ID); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("the second one is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
	})
}

package outgoing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// paidTwicePerhaps has a payment that was signed and that no node has, and an external spend that may have paid the
// same: what the external spend paid is known only once the payment can never be included. Both are of a hot wallet
// that is old since, or of the present one.
func (r *harness) paidTwicePerhaps(old bool) (w bursar.Withdrawal, external string) {
	r.T.Helper()
	r.Prepare()
	r.Settle()
	w = r.Order(300_000_000, r.Chain.Named("receiver"))
	r.Step()
	r.Chain.Forget()
	from := r.Hot.Base
	if old {
		r.Rotate()
	}
	r.Do(func(tx *store.Tx) error {
		return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
	})
	external = r.Chain.ExternalSpend(from, chain.Payment{Address: w.Address, Amount: w.Amount})
	r.Trouble = true
	r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
	r.Blocks(1)
	if list := r.Unclear(); len(list) != 1 || list[0].TxID != external {
		r.T.Fatalf("unclear is %+v", list)
	}
	return w, external
}

// An external spend that may have made a payment is evaluated again as soon as our transaction for that payment has
// expired: it is paid once.
func TestAnUnclearSpendIsEvaluatedAgainOnceOursHasExpired(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) { r.evaluatedAgain(false) })
}

// The same of a hot wallet that is old since.
func TestAnUnclearSpendOfAnOldHotWalletIsEvaluatedAgain(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) { r.evaluatedAgain(true) })
}

func (r *harness) evaluatedAgain(old bool) {
	r.T.Helper()
	w, external := r.paidTwicePerhaps(old)
	ours := r.Now(w).OutgoingID
	for n := 0; n < 30 && len(r.Unclear()) > 0; n++ {
		if p := r.spendNow(ours); p.Status == bursar.OutgoingAbandoned {
			r.T.Fatalf("at height %d it is %s, and the external spend is still unclear", r.height(), p.Status)
		}
		r.Blocks(1)
	}
	if x := r.externalSpend(external); x.Status != store.ExternalAdopted ||
		r.spendNow(ours).Status != bursar.OutgoingAbandoned {
		r.T.Errorf("the external spend is %s, and what was to pay the outgoing transaction is %s, want %s and %s",
			x.Status, r.spendNow(ours).Status, store.ExternalAdopted, bursar.OutgoingAbandoned)
	}
	r.Chain.ClearFaults()
	r.Settle()
	if now := r.Now(w); now.TxID != external {
		r.T.Errorf("the withdrawal is paid by %s, want %s", now.TxID, external)
	}
	r.holdsOnce(w)
}

// If a node does not know whether our transaction has expired, nothing is evaluated: the step returns an error, and the
// next one asks again. A process that lost the lease evaluates nothing.
func TestNothingIsEvaluatedAgainWithoutAnAnswerOrTheLease(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		w, external := r.paidTwicePerhaps(false)
		ours := r.Now(w).OutgoingID
		r.Chain.Fail(sim.Expired, 1000, nil)
		r.Chain.Mine(12)
		r.follow()
		err := r.Sender.Step(ctx, r.Lease)
		if !errors.Is(err, sim.ErrNode) || !strings.Contains(err.Error(), "find out whether it expired") {
			t.Errorf("the step returned %v, want %v and %q in it", err, sim.ErrNode, "find out whether it expired")
		}
		if x, p := r.externalSpend(external), r.spendNow(ours); x.Status != store.ExternalUnclear ||
			p.Status == bursar.OutgoingAbandoned {
			t.Errorf("the external spend is %s, and what was to pay it is %s", x.Status, p.Status)
		}
		r.Chain.ClearFaults()
		r.Sender.Chain = resolvedBeside{r.Chain, r.overthrown()}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		if x := r.externalSpend(external); x.Status != store.ExternalUnclear {
			t.Errorf("the external spend is %s, want %s", x.Status, store.ExternalUnclear)
		}
	})
}

// A process that lost the lease while it asked whether our transaction has expired evaluates nothing, also if it has
// not expired.
func TestNothingIsEvaluatedAgainWithoutTheLease(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		r.paidTwicePerhaps(false)
		r.Sender.Chain = resolvedBeside{r.Chain, r.overthrown()}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
	})
}

// An unsigned transaction is not ended while an external spend is unclear: it goes on once that is resolved.
func TestAnUnsignedTransactionOutlastsAnUnclearSpend(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Trouble = true
		r.Sender.Signer = bursartest.NoSigner
		r.Step()
		reserved := r.Open()
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")},
			Amount: bursar.Units(100_000_000)})
		r.Sender.Signer = r.Signer
		r.Blocks(12)
		if len(reserved) != 1 || reserved[0].Status != bursar.OutgoingReserved || len(r.Unclear()) != 1 {
			t.Fatalf("reserved is %+v, unclear %+v, want 1 of them and %v", reserved, r.Unclear(), bursar.OutgoingReserved)
		}
		if p := r.spendNow(reserved[0].ID); p.Status != bursar.OutgoingReserved {
			t.Errorf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingReserved)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || now.TxID != "" {
			t.Errorf("the withdrawal is %s by %q, want %s and \"\"", now.Status, now.TxID, bursar.WithdrawalQueued)
		}
	})
}

package outgoing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// doubtful has a payment that was signed and that no node knows, and an external spend that may have paid the same:
// what that one paid can be said once the other can never be included.
func (r *harness) doubtful() (w bursar.Withdrawal, external string) {
	r.t.Helper()
	r.prepare()
	r.settle()
	w = r.order(300_000_000, r.chain.Named("receiver"))
	r.step()
	r.chain.Forget()
	r.do(func(tx *store.Tx) error {
		return tx.Recoveries().Begin(ctx, r.chain.Capabilities().ID, "the database was restored")
	})
	external = r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: w.Address, Amount: w.Amount})
	r.trouble = true
	r.chain.FailBroadcasts(sim.LostUnknown, 1000)
	r.blocks(1)
	if list := r.unclear(); len(list) != 1 || list[0].TxID != external {
		r.t.Fatalf("unclear is %+v", list)
	}
	return w, external
}

// What may have been paid by an external spend is judged again as soon as what was to pay it has expired: it is paid,
// once.
func TestAnUnclearSpendIsJudgedAgainOnceOursHasExpired(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		w, external := r.doubtful()
		ours := r.now(w).OutgoingID
		for n := 0; n < 30 && len(r.unclear()) > 0; n++ {
			if p := r.spendNow(ours); p.Status == bursar.OutgoingAbandoned {
				t.Fatalf("at height %d it is %s, and the external spend is still unclear", r.height(), p.Status)
			}
			r.blocks(1)
		}
		if x := r.externalSpend(external); x.Status != store.ExternalAdopted ||
			r.spendNow(ours).Status != bursar.OutgoingAbandoned {
			t.Errorf("the external spend is %s, and what was to pay it is %s", x.Status, r.spendNow(ours).Status)
		}
		r.chain.ClearFaults()
		r.settle()
		if now := r.now(w); now.TxID != external {
			t.Errorf("it is paid by %s", now.TxID)
		}
		r.holdsOnce(w)
	})
}

// A node that cannot say whether ours has expired is no reason to judge: the step says so, and the next one asks again.
// One that has lost the lead judges nothing.
func TestNothingIsJudgedAgainWithoutAnAnswerOrTheLease(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		w, external := r.doubtful()
		ours := r.now(w).OutgoingID
		r.chain.Fail(sim.Expired, 1000, nil)
		r.chain.Mine(12)
		r.follow()
		err := r.sender.Step(ctx, r.lease)
		if !errors.Is(err, sim.ErrNode) || !strings.Contains(err.Error(), "ask whether it expired") {
			t.Errorf("the step ends with %v", err)
		}
		if x, p := r.externalSpend(external), r.spendNow(ours); x.Status != store.ExternalUnclear ||
			p.Status == bursar.OutgoingAbandoned {
			t.Errorf("the external spend is %s, and what was to pay it is %s", x.Status, p.Status)
		}
		r.chain.ClearFaults()
		r.sender.Chain = resolvedBeside{r.chain, r.overthrown()}
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step ends with %v", err)
		}
		if x := r.externalSpend(external); x.Status != store.ExternalUnclear {
			t.Errorf("the external spend is %s", x.Status)
		}
	})
}

// One that has lost the lead while it asked whether ours has expired judges nothing either where it has not.
func TestNothingIsJudgedAgainWithoutTheLease(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		r.doubtful()
		r.sender.Chain = resolvedBeside{r.chain, r.overthrown()}
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step ends with %v", err)
		}
	})
}

// What is not signed yet is not ended while something is unclear: it goes on once that is over.
func TestWhatIsUnsignedOutlastsADoubt(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		r.trouble = true
		r.sender.Signer = mute{}
		r.step()
		reserved := r.open()
		r.do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.chain.Capabilities().ID, "the database was restored")
		})
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("outside")},
			Amount: bursar.Units(100_000_000)})
		r.sender.Signer = r.signer
		r.blocks(12)
		if len(reserved) != 1 || reserved[0].Status != bursar.OutgoingReserved || len(r.unclear()) != 1 {
			t.Fatalf("reserved is %+v, unclear %+v", reserved, r.unclear())
		}
		if p := r.spendNow(reserved[0].ID); p.Status != bursar.OutgoingReserved {
			t.Errorf("it is %s", p.Status)
		}
		if now := r.now(w); now.Status != bursar.WithdrawalQueued || now.TxID != "" {
			t.Errorf("the order is %s by %q", now.Status, now.TxID)
		}
	})
}

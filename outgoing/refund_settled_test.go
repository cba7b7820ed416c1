package outgoing_test

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/unattributed"
)

// Refunds to senders that end in an unusual way.

// refundToken refunds 50 of an unattributed token, which behaves in the given manners, until that is final.
func (r *harness) refundToken(token bursar.Currency, manners sim.Manners) bursar.Deposit {
	r.T.Helper()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	pays := func(to bursar.Address, units uint64) string {
		return r.Chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(units)})
	}
	pays(bursar.Address{Base: r.Hot.Base}, 80_000_000)
	id := pays(r.Wallet(0).Address, 50_000_000) // a wallet of COIN
	r.Settle()
	d := r.StrandedBy(id)
	r.Chain.SetManners(token.Contract, manners)
	_, err := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("sender")})
	r.Must(err)
	r.Settle()
	return d
}

// A refund of a token that takes a fee on transfer is done, although less was delivered, and one of a token that
// delivers nothing has failed. Both raise an alarm, and halt the token's currency until an operator has looked.
func TestARefundThatItsTokenCutsShort(t *testing.T) {
	for name, c := range map[string]struct {
		manners sim.Manners
		status  bursar.ResolutionStatus
		arrives uint64
		reads   string
		alarms  []string
	}{
		"takes a fee": {sim.Manners{Fee: 10_000}, bursar.ResolutionDone, 49_500_000, "", []string{"payout_short"}},
		"delivers nothing": {sim.Manners{False: true}, bursar.ResolutionFailed, 0,
			"the token's contract delivered nothing, though the transaction succeeded",
			[]string{"payout_short", "unattributed"}},
		"delivers all": {sim.Manners{}, bursar.ResolutionDone, 50_000_000, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				token := r.WithToken()
				d := r.refundToken(token, c.manners)
				n := r.Resolution(d)
				if n.Status != c.status || n.Error != c.reads || n.CompletedAt.IsZero() {
					t.Errorf("it is %s: %q, want %v and %v and not zero", n.Status, n.Error, c.status, c.reads)
				}
				if got := r.Chain.Balance(r.Chain.Named("sender"), token.Contract); got != bursar.Units(c.arrives) {
					t.Errorf("the sender got %s, want %s", got, bursar.Units(c.arrives))
				}
				if got := slices.Sorted(slices.Values(r.Alarms())); !slices.Equal(got, c.alarms) {
					t.Errorf("the open alarms are %q, want %q", got, c.alarms)
				}
				r.wantShort(token, len(c.alarms) > 0)
				r.NothingOpen()
			})
		})
	}
}

// A refund that had failed and is paid on another branch counts as if it had never failed.
func TestARefundThatIsPaidAfterAllIsDone(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.WantAlarms("unattributed")
		r.Undo(first.TxID)
		r.Step()
		r.Settle()
		n := r.Resolution(d)
		if n.ID != first.ID || n.Status != bursar.ResolutionDone || n.Error != "" || n.TxID != first.TxID {
			t.Errorf("it is %s by %s: %q, want %v and %v and %q and %v", n.Status, n.TxID, n.Error, first.ID,
				bursar.ResolutionDone, "", first.TxID)
		}
		if got := r.Deposit(d.ID); got.Purpose != bursar.ForRefunded {
			t.Errorf("the deposit is for %s, want %s", got.Purpose, bursar.ForRefunded)
		}
		r.WantBooks("0", "0", "0")
		r.WantAlarms("deep_reorg")
		r.Must(r.Audit())
	})
}

// A block may include the first of several versions of a transaction: that one is named to the operator and the
// customer.
func TestTheVersionThatIsIncludedIsNamed(t *testing.T) {
	firstOfTwo := func(r *harness, name func() string) chain.SignedTx {
		r.T.Helper()
		r.Must(r.Sender.Step(ctx, r.Lease))
		first := r.version(name())
		r.Chain.SetRate(2000) // for a block, and more than the first offers
		for i := 0; i < 20 && name() == first.TxID; i++ {
			r.Blocks(1)
		}
		if name() == first.TxID {
			r.T.Fatal("its fee is not bumped")
		}
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, first))
		r.Chain.SetRate(10)
		return first
	}
	t.Run("refund", func(t *testing.T) {
		unswept(t, func(t *testing.T, r *harness) {
			d := r.Astray()
			r.SendBack(d, "sender")
			first := firstOfTwo(r, func() string { return r.Resolution(d).TxID })
			r.Settle()
			if n := r.Resolution(d); n.Status != bursar.ResolutionDone || n.TxID != first.TxID {
				t.Errorf("it is %s by %s, included was %s", n.Status, n.TxID, first.TxID)
			}
			r.Must(r.Audit())
		})
	})
	t.Run("withdrawal", func(t *testing.T) {
		both(t, func(t *testing.T, r *harness) {
			r.Prepare()
			r.Settle()
			w := r.Order(100_000_000, r.Chain.Named("outside"))
			first := firstOfTwo(r, func() string { return r.Now(w).TxID })
			r.Settle()
			if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.TxID != first.TxID {
				t.Errorf("the withdrawal is %s by %s, included was %s", got.Status, got.TxID, first.TxID)
			}
			r.Must(r.Audit())
		})
	})
}

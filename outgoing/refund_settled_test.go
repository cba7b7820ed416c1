package outgoing_test

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/unattributed"
)

// Refunds to senders that end in an unusual way.

// refundToken refunds 50 of an unattributed token, which behaves in the given manners, until that is final.
func (r *harness) refundToken(token bursar.Currency, manners sim.Manners) bursar.Deposit {
	r.t.Helper()
	r.step()
	r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	pays := func(to bursar.Address, units uint64) string {
		return r.chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(units)})
	}
	pays(bursar.Address{Base: r.hot.Base}, 80_000_000)
	id := pays(r.wallet(0).Address, 50_000_000) // a wallet of COIN
	r.settle()
	d := r.strandedBy(id)
	r.chain.SetManners(token.Contract, manners)
	_, err := r.unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("sender")})
	r.must(err)
	r.settle()
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
			each(t, numbered, func(t *testing.T, r *harness) {
				token := r.withToken()
				d := r.refundToken(token, c.manners)
				n := r.resolution(d)
				if n.Status != c.status || n.Error != c.reads || n.CompletedAt.IsZero() {
					t.Errorf("it is %s: %q", n.Status, n.Error)
				}
				if got := r.chain.Balance(r.chain.Named("sender"), token.Contract); got != bursar.Units(c.arrives) {
					t.Errorf("the sender got %s", got)
				}
				if got := slices.Sorted(slices.Values(r.alarms())); !slices.Equal(got, c.alarms) {
					t.Errorf("the open alarms are %q, want %q", got, c.alarms)
				}
				r.wantShort(token, len(c.alarms) > 0)
				r.nothingOpen()
			})
		})
	}
}

// A refund that had failed and is paid on another branch counts as if it had never failed.
func TestARefundThatIsPaidAfterAllIsDone(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.wantAlarms("unattributed")
		r.undo(first.TxID)
		r.step()
		r.settle()
		n := r.resolution(d)
		if n.ID != first.ID || n.Status != bursar.ResolutionDone || n.Error != "" || n.TxID != first.TxID {
			t.Errorf("it is %s by %s: %q", n.Status, n.TxID, n.Error)
		}
		if got := r.deposit(d.ID); got.Purpose != bursar.ForRefunded {
			t.Errorf("the deposit is for %s", got.Purpose)
		}
		r.wantBooks("0", "0", "0")
		r.wantAlarms("deep_reorg")
		r.must(r.audit())
	})
}

// A block may include the first of several versions of a transaction: that one is named to the operator and the
// customer.
func TestTheVersionThatIsIncludedIsNamed(t *testing.T) {
	firstOfTwo := func(r *harness, name func() string) chain.SignedTx {
		r.t.Helper()
		r.must(r.sender.Step(ctx, r.lease))
		first := r.version(name())
		r.chain.SetRate(2000) // for a block, and more than the first offers
		for i := 0; i < 20 && name() == first.TxID; i++ {
			r.blocks(1)
		}
		if name() == first.TxID {
			r.t.Fatal("its fee is not bumped")
		}
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, first))
		r.chain.SetRate(10)
		return first
	}
	t.Run("refund", func(t *testing.T) {
		unswept(t, func(t *testing.T, r *harness) {
			d := r.astray()
			r.sendBack(d, "sender")
			first := firstOfTwo(r, func() string { return r.resolution(d).TxID })
			r.settle()
			if n := r.resolution(d); n.Status != bursar.ResolutionDone || n.TxID != first.TxID {
				t.Errorf("it is %s by %s, included was %s", n.Status, n.TxID, first.TxID)
			}
			r.must(r.audit())
		})
	})
	t.Run("withdrawal", func(t *testing.T) {
		both(t, func(t *testing.T, r *harness) {
			r.prepare()
			r.settle()
			w := r.order(100_000_000, r.chain.Named("outside"))
			first := firstOfTwo(r, func() string { return r.now(w).TxID })
			r.settle()
			if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.TxID != first.TxID {
				t.Errorf("it is %s by %s, included was %s", got.Status, got.TxID, first.TxID)
			}
			r.must(r.audit())
		})
	})
}

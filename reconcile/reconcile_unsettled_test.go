package reconcile_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/withdrawal"
)

// What a token did not deliver is no difference between the books and the chain, also in the blocks before it is
// booked.
func TestAShortTransferIsReconciledBeforeItIsBooked(t *testing.T) {
	for name, manners := range map[string]sim.Manners{"false": {False: true}, "fee": {Fee: 10_000}, "whole": {}} {
		t.Run(name, func(t *testing.T) {
			bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
				token := r.WithToken()
				r.Step()
				r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
				r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
					Amount: bursar.Units(80_000_000)})
				r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
					Amount: bursar.Units(80_000_000)})
				r.Chain.Mine(5)
				r.CatchUp()
				r.Chain.SetManners(token.Contract, manners)
				_, err := r.Withdrawals.Request(ctx,
					withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10", Address: r.Chain.Named("outside")})
				r.Must(err)
				for range 12 {
					r.Step()
					r.Must(r.Reconcile())
					r.Chain.Mine(1)
					r.CatchUp()
					r.Must(r.Reconcile())
				}
				r.Must(r.Chain.Check())
			})
		})
	}
}

// A loss that remains is booked to its account, and custody is still what the chain holds.
func TestALossThatStaysIsExplained(t *testing.T) {
	bursartest.OnUnswept(t, func(t *testing.T, r *bursartest.OneChain) {
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			return // there the payment may use the very UTXO that is gone, and then it is gone too
		}
		d := r.Astray()
		r.SendBack(d, "sender")
		r.Settle()
		head, err := r.Chain.Head(ctx)
		r.Must(err)
		r.Chain.Reorg(int(head.Latest.Height-d.Height)+1, d.TxID)
		r.Settle()
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != r.Resolution(d).Amount {
			t.Fatalf("the sender got %s, want %s", got, r.Resolution(d).Amount)
		}
		r.WantBooks("0", "0", "80000000")
		r.Must(r.Audit())
	})
}

// A refund in a final block that is not settled yet explains the difference.
func TestReconciliationKnowsRefundsThatAreNotSettled(t *testing.T) {
	bursartest.OnUnswept(t, func(t *testing.T, r *bursartest.OneChain) {
		d := r.Astray()
		r.SendBack(d, "sender")
		r.Step()
		r.Chain.Mine(3)
		for more := true; more; {
			var err error
			more, err = r.Follower.Step(ctx, r.Lease)
			r.Must(err)
		}
		if n := r.Resolution(d); n.Status != bursar.ResolutionSigned ||
			r.Chain.Balance(r.Chain.Named("sender"), "").IsZero() {
			t.Fatalf("the decision is %+v, want %v and not zero", n, bursar.ResolutionSigned)
		}
		r.Must(r.Reconcile())
		r.Settle()
		r.Must(r.Audit())
	})
}

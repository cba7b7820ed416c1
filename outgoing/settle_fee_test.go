package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A payment that was final and was reorged out by a reorg deeper than finality is bumped like any other that waits; it
// has cost one fee, that of the version that counts.
func TestAReorgedOutPaymentCanBeBumpedAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Settle()
		to := r.Chain.Named("outside")
		order, err := r.Withdraw(0, 30_000_000, to)
		r.Must(err)
		r.Settle()
		first, err := r.Withdrawals.Get(ctx, r.Accounts[0], order.ID)
		r.Must(err)
		r.Must(r.Audit())
		r.Chain.Mine(1)
		r.Step()
		r.Chain.Reorg(5, first.TxID)
		r.Settle()
		second, err := r.Withdrawals.Get(ctx, r.Accounts[0], order.ID)
		if err != nil || second.TxID == first.TxID {
			t.Fatalf("its fee was not bumped: %+v, %v", second, err)
		}
		if got := r.Chain.Balance(to, ""); got != order.Amount {
			t.Fatalf("the receiver got %s, want %s", got, order.Amount)
		}
		r.Must(r.Audit())
	})
}

// A sweep that was final, was reorged out with its deposit by a reorg deeper than finality, and expired has cost
// nothing.
func TestNoFeeIsBookedForAnExpiredSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3,
			Expiry: 6})
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 100_000_000)
		r.Chain.Mine(3)
		paid := r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Settle()
		r.Settle()
		head, err := r.Chain.Head(ctx)
		r.Must(err)
		if r.Book(ledger.NetworkFees) == "0" {
			t.Fatal("nothing was swept")
		}
		r.Chain.Reorg(int(head.Latest.Height)-3, paid)
		for range 12 {
			r.Chain.Mine(1)
			r.Trouble = true // the sweep cannot be sent again
			r.Step()
		}
		r.Trouble = false
		r.Settle()
		if got := r.Book(ledger.NetworkFees); got != "0" {
			t.Errorf("%s of fees are booked, want 0", got)
		}
		r.Must(r.Audit())
	})
}

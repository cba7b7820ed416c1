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

// A payment that was final and was reorged out by a reorganisation deeper than finality is replaced like any that
// waits; and it has cost one fee, that of the bid which counts.
func TestWhatWasFinalCanBeBumpedAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 100_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 100_000_000)
		r.chain.Mine(3)
		r.step()
		r.settle()
		to := r.chain.Named("outside")
		order, err := r.withdraw(0, 30_000_000, to)
		r.must(err)
		r.settle()
		first, err := r.withdrawals.Get(ctx, r.accounts[0], order.ID)
		r.must(err)
		r.must(r.audit())
		r.chain.Mine(1)
		r.step()
		r.chain.Reorg(5, first.TxID)
		r.settle()
		second, err := r.withdrawals.Get(ctx, r.accounts[0], order.ID)
		if err != nil || second.TxID == first.TxID {
			t.Fatalf("it was not outbid: %+v, %v", second, err)
		}
		if got := r.chain.Balance(to, ""); got != order.Amount {
			t.Fatalf("the receiver got %s", got)
		}
		r.must(r.audit())
	})
}

// A sweep that was final, was reorged out by a reorganisation deeper than finality together with what it moved, and
// expired has cost nothing.
func TestNoFeeIsBookedForWhatExpired(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3,
			Expiry: 6})
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 100_000_000)
		r.chain.Mine(3)
		paid := r.pay(r.wallet(0).Address, 100_000_000)
		r.settle()
		r.settle()
		head, err := r.chain.Head(ctx)
		r.must(err)
		if r.book(ledger.NetworkFees) == "0" {
			t.Fatal("nothing was swept")
		}
		r.chain.Reorg(int(head.Latest.Height)-3, paid)
		for range 12 {
			r.chain.Mine(1)
			r.trouble = true // the sweep cannot be sent again
			r.step()
		}
		r.trouble = false
		r.settle()
		if got := r.book(ledger.NetworkFees); got != "0" {
			t.Errorf("%s of fees are booked", got)
		}
		r.must(r.audit())
	})
}

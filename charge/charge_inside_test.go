package charge_test

import (
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/withdrawal"
)

// order makes the other account withdraw to an address.
func (r *harness) order(to bursar.Address, units uint64) (bursar.Withdrawal, error) {
	r.t.Helper()
	currency, err := r.Registry.Get("BTC")
	r.must(err)
	return r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.payer, Currency: "BTC",
		Amount: currency.Exact(bursar.Units(units)), Address: to.String()})
}

// transfer pays a charge by an internal transfer and returns the transfer's hash.
func (r *harness) transfer(c bursar.Charge, units uint64) string {
	r.t.Helper()
	w, err := r.order(c.Address, units)
	r.must(err)
	if w.Status != bursar.WithdrawalConfirmed {
		r.t.Fatalf("the transfer is %+v, want %v", w, bursar.WithdrawalConfirmed)
	}
	return w.TxID
}

// A charge is paid by an internal transfer as from a chain, with the same fee.
func TestAChargeIsPaidFromWithin(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.transfer(c, 99_999)
		r.is(c, false, false, 3600, 1)
		hash := r.transfer(c, 100_000)
		r.is(c, true, false, 3600, 2)
		r.transfer(c, 100_000)
		events := r.heard("deposit", "paid", "deposit")
		if e := events[1]; e.Deposit.HashID != hash || e.Charge.ChargeID != c.ID.String() || e.Deposit.Fee != "0.00001000" ||
			e.Type != "charge" {
			t.Errorf("the event is %+v, want %v and %v and %q and %q", e, hash, c.ID.String(), "0.00001000", "charge")
		}
		r.holds("BTC", 98_999+99_000+99_000)

		late := r.charge("BTC", 100_000, time.Minute)
		r.clock.Set(started.Add(time.Minute))
		r.transfer(late, 100_000)
		r.is(late, false, true, 0, 1)
	})
}

// However many pay at the same time, by the chain or by internal transfers, one of them pays the charge.
func TestManyPayAtTheSameTime(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.pay(c, 100_000, 100_000, 100_000)
		r.mine(bursar.Bitcoin, 2)
		r.chains[bursar.Bitcoin].Mine(1)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if _, err := r.order(c.Address, 100_000); err != nil {
					t.Error(err)
				}
			})
		}
		group.Go(func() { r.step(bursar.Bitcoin) })
		group.Wait()
		paid := 0
		for _, e := range r.events() {
			if e.Event == "paid" {
				paid++
			}
		}
		if v := r.see(c); paid != 1 || !v.Paid || len(v.DepositIDs) != 11 {
			t.Errorf("paid %d times: %+v", paid, v)
		}
		r.holds("BTC", 11*99_000)
	})
}

package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

func TestOneDepositThatReachesTheMinimumPays(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.is(c, false, false, 3600, 0)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 2)
		r.is(c, false, false, 3480, 0)
		r.heard()
		r.holds("BTC", 0)
		r.mine(bursar.Bitcoin, 1)
		r.is(c, true, false, 3420, 1)
		r.holds("BTC", 99_000)
		e := r.heard("paid")[0]
		if e.Type != "charge" || e.AccountID != r.account.String() || e.Charge.ChargeID != c.ID.String() ||
			e.Charge.Currency != "BTC" || e.Charge.Amount != "0.00100000" ||
			e.Charge.Address != c.Address.String() || e.Charge.AmountUSDT != "" ||
			e.Deposit.DepositID != r.see(c).DepositIDs[0] || e.Deposit.Fee != "0.00001000" {
			t.Errorf("the event is %+v", e)
		}
	})
}

func TestAChargeIsPaidOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		first := r.pay(c, 250_000) // too much is enough
		r.mine(bursar.Bitcoin, 3)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3240, 2)
		events := r.heard("paid", "deposit")
		if events[0].Deposit.HashID != first || events[0].Charge.Amount != "0.00250000" || events[1].Type != "charge" ||
			events[1].Charge.ChargeID != c.ID.String() {
			t.Errorf("the events are %+v, want %v and %q and %q and %v", events, first, "0.00250000", "charge", c.ID.String())
		}
		r.holds("BTC", 247_500+99_000)
		if _, err := r.follower(bursar.Bitcoin).Rescan(ctx, 1, 6); err != nil {
			t.Fatal(err)
		}
		r.mine(bursar.Bitcoin, 1)
		r.heard("paid", "deposit")
	})
}

// Payments that are too small never add up, in one transaction or in several; each is credited to the account all the
// same.
func TestShortPaymentsDoNotAddUp(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.pay(c, 60_000, 60_000)
		r.mine(bursar.Bitcoin, 3)
		r.pay(c, 99_999)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, false, false, 3240, 3)
		r.heard("deposit", "deposit", "deposit")
		r.holds("BTC", 59_400+59_400+98_999) // a fee of 999.99 units is 1000
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3060, 4)
		r.heard("deposit", "deposit", "deposit", "paid")
	})
}

func TestTwoPaymentsInOneTransactionPayOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.pay(c, 99_999, 100_000, 200_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3420, 3)
		events := r.heard("deposit", "paid", "deposit")
		if events[1].Deposit.OutputIndex != 1 || events[0].Deposit.HashID != events[2].Deposit.HashID {
			t.Errorf("the events are %+v, want 1 and %v", events, events[2].Deposit.HashID)
		}
	})
}

// A deposit below the currency's minimum causes no event.
func TestDustPaysNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 1000, time.Hour)
		r.pay(c, 999)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, false, false, 3420, 0)
		r.heard()
		r.holds("BTC", 0)
	})
}

// A charge keeps its minimum: a deposit that reaches it pays, also where the currency's minimum was raised since.
func TestAChargesMinimumOutlivesTheCurrencys(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		list := currencies(r.chains)
		list[0].Minimum = bursar.Units(5_000_000)
		r.open(list)
		r.pay(c, 99_999) // reaches neither
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3420, 1)
		r.heard("paid")
		r.holds("BTC", 99_000)
	})
}

// On a chain where wallets share an address a charge is identified by its tag.
func TestAChargeWithATag(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c, other := r.charge("XRP", 5000, time.Hour), r.charge("XRP", 5000, time.Hour)
		if c.Address.Base != other.Address.Base || c.Address == other.Address || !c.Address.HasMemo {
			t.Fatalf("addresses are %s and %s", c.Address, other.Address)
		}
		xrpl := r.chains[bursar.XRPL]
		xrpl.Pay(chain.Payment{Address: bursar.Address{Base: c.Address.Base}, Amount: bursar.Units(5000)})
		xrpl.Pay(chain.Payment{Address: bursar.Address{Base: c.Address.Base, HasMemo: true, Memo: 999},
			Amount: bursar.Units(5000)})
		r.pay(other, 5000)
		r.mine(bursar.XRPL, 1)
		r.is(c, false, false, 3540, 0)
		r.is(other, true, false, 3540, 1)
		r.pay(c, 5000)
		r.mine(bursar.XRPL, 1)
		r.is(c, true, false, 3480, 1)
		r.heard("paid", "paid")
		r.holds("XRP", 10_000)
	})
}

// A token's charge is paid in the token; its chain's native asset at the same address is unattributed.
func TestAChargeOfAToken(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("TOK", 5000, time.Hour)
		r.chains[bursar.Ethereum].Pay(chain.Payment{Address: c.Address, Amount: bursar.Units(5000)})
		r.mine(bursar.Ethereum, 2)
		r.is(c, false, false, 3480, 0)
		r.pay(c, 5000)
		r.mine(bursar.Ethereum, 2)
		r.is(c, true, false, 3360, 1)
		r.heard("paid")
		r.holds("TOK", 5000)
		r.holds("ETH", 0)
	})
}

// A pending deposit is announced where the account asked for such events, with the charge and without values in USDT.
func TestAPendingPaymentIsAnnounced(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		id := bursar.ID{15: 9}
		bursartest.Over(t, r.DB).AddAccount(bursar.Account{ID: id, Name: "curious", NotifyPending: true})
		r.account, r.rates["BTC"] = id, bursar.Par()
		c := r.charge("BTC", 100_000, time.Hour)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		events := r.heard("deposit_pending", "paid")
		if e := events[0]; e.Type != "charge" || e.Charge.ChargeID != c.ID.String() || e.Charge.AmountUSDT != "" ||
			e.Deposit.Status != "pending" {
			t.Errorf("pending is %+v, want %q and %v and %q and %q", e, "charge", c.ID.String(), "", "pending")
		}
		if events[1].Charge.AmountUSDT != "0.001" {
			t.Errorf("paid is %+v, want %q", events[1], "0.001")
		}
	})
}

package charge_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// The seconds left are 0 once the charge has ended and not before.
func TestTheLastSeconds(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Minute)
		for _, at := range []struct {
			after   time.Duration
			expires int64
			expired bool
		}{{0, 60, false}, {time.Second, 59, false}, {time.Second + 1000, 59, false}, {59*time.Second + 999_999_000, 1, false},
			{time.Minute, 0, true}, {time.Hour, 0, true}} {
			r.clock.Set(started.Add(at.after))
			r.is(c, false, at.expired, at.expires, 0)
		}
	})
}

// A deposit after the end is credited to the account and pays nothing; the moment of the end is too late.
func TestMoneyThatComesLate(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, 2*time.Minute)
		r.mine(bursar.Bitcoin, 1)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3) // the first of them is of the very end
		r.is(c, false, true, 0, 1)
		if e := r.heard("deposit")[0]; e.Type != "charge" || e.Charge.ChargeID != c.ID.String() ||
			e.Charge.Amount != "0.00100000" {
			t.Errorf("the event is %+v, want %q and %v and %q", e, "charge", c.ID.String(), "0.00100000")
		}
		r.holds("BTC", 99_000)
	})
}

// A deposit that was seen in a block in time pays, whenever it becomes final; until then the charge has not ended.
func TestSeenInTimeAndFinalLater(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, 2*time.Minute)
		r.pay(c, 99_999, 100_000)
		r.mine(bursar.Bitcoin, 1)
		r.clock.Set(started.Add(time.Hour))
		r.is(c, false, false, 0, 0)
		list, err := r.Charges.List(ctx, r.account, page)
		r.must(err)
		if len(list) != 1 || list[0].Expired(r.DB.Now()) {
			t.Errorf("listed are %+v", list)
		}
		r.mine(bursar.Bitcoin, 2)
		r.is(c, true, false, 0, 2)
		r.heard("deposit", "paid")
	})
}

// A payment that is too small does not keep a charge open, and neither does a late one.
func TestADepositThatCannotPayDoesNotKeepAChargeOpen(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, 2*time.Minute)
		r.pay(c, 99_999)
		r.mine(bursar.Bitcoin, 2)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 1)
		r.is(c, false, true, 0, 1)
	})
}

// A payment that was seen in time and reorged out does not count; when it comes back it was in time.
func TestAnAwaitedPaymentIsReorgedOutAndComesBack(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, 2*time.Minute)
		hash := r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 2)
		r.is(c, false, false, 0, 0)
		r.reorg(bursar.Bitcoin, 2, hash)
		r.is(c, false, true, 0, 0)
		r.clock.Set(started.Add(time.Hour))
		r.chains[bursar.Bitcoin].Restore(hash)
		r.mine(bursar.Bitcoin, 1)
		r.is(c, false, false, 0, 0)
		r.mine(bursar.Bitcoin, 2)
		r.is(c, true, false, 0, 1)
		r.heard("paid")
		r.holds("BTC", 99_000)
	})
}

// While blocks are caught up, a payment counts from the time of its block.
func TestABlockThatIsReadLateCountsFromItsTime(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		inTime, late := r.charge("BTC", 100_000, 5*time.Minute), r.charge("BTC", 100_000, 4*time.Minute)
		r.chains[bursar.Bitcoin].Mine(3)
		r.pay(inTime, 100_000)
		r.pay(late, 100_000)
		r.chains[bursar.Bitcoin].Mine(3) // nothing is read until both have ended
		r.clock.Set(started.Add(time.Hour))
		r.step(bursar.Bitcoin)
		r.is(inTime, true, false, 0, 1)
		r.is(late, false, true, 0, 1)
		r.heard("paid", "deposit")
	})
}

// A block's time may be ahead of the clock, by two hours on Bitcoin: a payment that was seen before the end was in
// time.
func TestABlockAheadOfTheClockCountsFromWhenItWasSeen(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, 2*time.Minute)
		r.chains[bursar.Bitcoin].Mine(9)
		r.pay(c, 100_000)
		r.chains[bursar.Bitcoin].Mine(3)
		r.clock.Set(started.Add(2*time.Minute - time.Microsecond))
		r.step(bursar.Bitcoin)
		r.is(c, true, false, 1, 1)
	})
}

func TestInvalidChargesAreRefused(t *testing.T) {
	r := newHarness(t, sqlite(t))
	for name, c := range map[string]struct {
		order charge.Request
		code  bursar.ErrorCode
		field string
	}{
		"too short":     {charge.Request{Currency: "BTC", Life: time.Minute - 1}, bursar.CodeInvalidRequest, "expires"},
		"too long":      {charge.Request{Currency: "BTC", Life: 30*24*time.Hour + 1}, bursar.CodeInvalidRequest, "expires"},
		"below zero":    {charge.Request{Currency: "BTC", Life: -time.Hour}, bursar.CodeInvalidRequest, "expires"},
		"below minimum": {charge.Request{Currency: "BTC", Minimum: bursar.Units(999)}, bursar.CodeBelowMinimum, "minimum"},
		"currency":      {charge.Request{Currency: "NONE"}, bursar.CodeUnsupportedCurrency, "currency"},
		"webhook":       {charge.Request{Currency: "BTC", Webhook: "ftp://x"}, bursar.CodeInvalidWebhook, "webhook"},
		"metadata":      {charge.Request{Currency: "BTC", Metadata: "\x00"}, bursar.CodeInvalidRequest, "metadata"},
	} {
		c.order.Account = r.account
		if c.order.Webhook == "" {
			c.order.Webhook = "https://receiver.example"
		}
		_, err := r.Charges.Create(ctx, c.order)
		if got := refusal(err); got == nil || got.Code != c.code || got.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, life := range []time.Duration{bursar.MinChargeLife, bursar.MaxChargeLife, 0} {
		c := r.charge("BTC", 0, life)
		if !c.Expires.Equal(c.CreatedAt.Add(cmp.Or(life, time.Hour))) || c.Minimum != bursar.Units(1000) {
			t.Errorf("a life of %s makes %+v", life, c)
		}
	}
	if list, err := r.Charges.List(ctx, r.account, page); err != nil || len(list) != 3 {
		t.Errorf("there are %d charges, %v, want 3 of them", len(list), err)
	}
}

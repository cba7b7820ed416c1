package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The attack: a service that asks for sweeps, gas top-ups and small withdrawals at the highest fee burns what no limit
// of payments counts (500 transactions at the highest fee under a limit of one unit).
func TestFeesOfEveryKindCount(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Hour: bursar.Units(1000), Day: bursar.Units(1500)} }))
	b.wantReason(costing(b.withNonce(), 1, 400), "")
	b.wantReason(costing(b.sweep(), 2, 300), "")
	b.wantReason(costing(b.topUp(), 3, 300), "")
	b.wantReason(costing(b.sweep(), 4, 1), ReasonQuota,
		"1 units of fees exceed what hourly_fees allows within this hour, "+
			"which is 0 more")
	b.wantReason(costing(b.sweep(), 2, 300), "")          // the same bytes
	b.wantReason(costing(b.sweep(), 2, 301), ReasonQuota) // a fee bump costs the difference
	b.wantReason(costing(b.withNonce(), 1, 399), "")      // a replacement that costs less costs nothing
	b.clock.Advance(time.Hour + time.Second)              // the hour is over, the day is not
	b.wantReason(costing(b.sweep(), 2, 301), "")          // of the day it is one more
	b.wantReason(costing(b.sweep(), 5, 499), "")
	b.wantReason(costing(b.topUp(), 6, 1), ReasonQuota, "daily_fees allows within this day")
	b.clock.Advance(23 * time.Hour)
	b.wantReason(costing(b.topUp(), 6, 700), "")
}

// The attack: a service empties the gas of the hot wallet into deposit addresses and back, each time a little cheaper
// than a limit of fees would notice.
func TestTransfersAmongOurAddressesAreCounted(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Transfers = Limits{Hour: bursar.Units(2)} }))
	b.wantReason(costing(b.sweep(), 1, 1), "")
	b.wantReason(costing(b.topUp(), 2, 1), "")
	b.wantReason(costing(b.sweep(), 3, 1), ReasonQuota,
		"1 sweeps, consolidations and gas top-ups exceed what hourly_sweeps "+
			"allows within this hour, which is 0 more")
	b.wantReason(costing(b.withNonce(), 4, 1), "")
	b.wantReason(costing(b.sweep(), 1, 9), "") // a fee bump is no second one
	b.clock.Advance(time.Hour + time.Second)
	b.wantReason(costing(b.sweep(), 3, 1), "")
}

// The attack: a service waits for the hour to pass, again and again.
func TestADayAndAWeekAreLimitedToo(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) {
		p.Payments = map[string]Limits{"token": {Hour: bursar.Units(10), Day: bursar.Units(15), Week: bursar.Units(20)}}
	}))
	path := b.stateFile(false)
	nonce := 0
	pays := func(units uint64, reason Reason, says ...string) {
		t.Helper()
		nonce++
		r := costing(b.withNonce(), nonce, 1)
		r.request.Payments[0].Amount = bursar.Units(units)
		r.contents.Payments = r.request.Payments
		b.wantReason(r, reason, says...)
	}
	pays(10, "")
	pays(1, ReasonQuota, "hourly_limit")
	b.clock.Advance(61 * time.Minute)
	b.reopen(path)
	pays(6, ReasonQuota, "6 units of token exceed what daily_limit allows within this day, which is 5 more")
	pays(5, "")
	b.clock.Advance(24 * time.Hour)
	b.reopen(path)
	pays(6, ReasonQuota, "weekly_limit allows within this week")
	pays(5, "")
	b.clock.Advance(6 * 24 * time.Hour)
	pays(6, "")
}

// The attack: a signer without limits pays whatever the service asks for. On mainnet an asset without a limit cannot
// leave; what stays with us can move.
func TestWithoutALimitNothingLeavesOnMainnet(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) {
		p.LimitsRequired, p.Payments = true, map[string]Limits{"": {Week: bursar.Units(1000)}}
	}))
	b.wantReason(costing(b.withNonce(), 1, 1), ReasonQuota, "7 units of token: the asset has no limit")
	native := costing(b.withNonce(), 2, 1)
	native.request.Payments = []chain.Payment{pay("alice", 3)}
	native.contents.Payments = native.request.Payments
	b.wantReason(native, "")
	b.wantReason(costing(b.sweep(), 3, 1), "")
	b.wantReason(costing(b.topUp(), 4, 1), "")
}

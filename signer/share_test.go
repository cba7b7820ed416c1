package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// The attack: a service pays next to nothing, at the highest fee each time.
func TestAFeeIsAShareOfThePayment(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.MaxFeePercent = 50 }))
	for n, test := range []struct {
		units, fee uint64
		want       Reason
	}{
		{1, 50, ""}, // a twentieth of the highest fee is not asked about
		{1, 51, ReasonShare},
		{101, 51, ReasonShare},
		{102, 51, ""},
		{1800, 900, ""},
		{1799, 900, ReasonShare},
	} {
		r := costing(b.paying(byte(n), pay("alice", test.units)), n, test.fee)
		b.wantReason(r, test.want)
	}
	b.wantReason(costing(b.sweep(), 20, 100), "")                                     // pays nobody
	b.wantReason(costing(b.paying(21, token("alice", 1)), 21, 900), "")               // has no price here
	b.wantReason(costing(b.withUTXOs(), 22, 151), ReasonShare, "50% of what is paid") // of both payments together
}

// What is paid in tokens is compared by the prices of the policy.
func TestAFeeIsAShareOfThePaymentInTokens(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil) // in which a unit of either asset is worth the same
	p := d.bounds[nonceChain]
	p.MaxFeePercent = 50
	d.bounds[nonceChain] = p
	d.file = d.reopen(d.path)
	ordered := func(n byte, units, fee uint64) request {
		r := d.ordered(n, units, ann, bob)
		orders := r.unsigned.Orders
		r = costing(r, int(n), fee)
		r.unsigned.Orders = orders
		return r
	}
	d.wantReason(ordered(1, 199, 100), ReasonShare, "more than 50% of what it pays")
	d.wantReason(ordered(2, 200, 100), "")
	d.wantReason(ordered(3, 11, 50), "")
}

// The attack: any number of transactions for the smallest amounts, each of which stays on the disk of the state.
func TestTheNumberOfPaymentsIsBounded(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Withdrawals = Limits{Hour: bursar.Units(2), Day: bursar.Units(3)} }))
	path := b.stateFile(false)
	b.wantReason(b.numbered(1, 1, 1), "")
	b.wantReason(b.numbered(2, 1, 1), "")
	bump := b.numbered(2, 1, 5)
	b.wantReason(bump, "") // of these two the chain includes one
	b.wantReason(b.numbered(3, 1, 1), ReasonQuota, "1 transactions that pay others exceed what hourly_payments allows")
	b.wantReason(costing(b.sweep(), 4, 1), "")
	b.reopen(path)
	b.clock.Advance(time.Hour + time.Second)
	b.wantReason(b.numbered(3, 1, 1), "")
	b.wantReason(b.numbered(5, 1, 1), ReasonQuota, "daily_payments")
	n := 0
	b.must(b.signer.evaluator.keeper.Do(t.Context(), func(tx memory.Tx) error {
		list, err := tx.CountsSince(t.Context(), time.Time{})
		for _, c := range list {
			if c.Class == memory.Withdrawals {
				n++
			}
		}
		return err
	}))
	if n != 3 {
		t.Errorf("got %d payments counted, want 3", n)
	}
}

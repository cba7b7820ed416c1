package signer

import (
	"bytes"
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// bounding is a policy fixture whose rule for small payments has other bounds, to any address.
func bounding(t *testing.T, change func(small *roster.Rule)) *policyFixture {
	t.Helper()
	return newPolicyFixture(t, func(p *roster.Policy) {
		p.Rules[0].To, p.Rules[0].Windows = roster.ToAny, nil
		change(&p.Rules[0])
	})
}

// costs is the payment with another fee.
func (r request) costs(fee uint64) request {
	r.contents.Fee, r.unsigned.Fee = bursar.Units(fee), bursar.Units(fee)
	return r
}

// hourly is one window of an hour.
func hourly(most uint64) []roster.Window {
	return []roster.Window{{Length: time.Hour, Most: bursar.Units(most)}}
}

// The attack: payments of next to nothing, each at a fee, to burn the money that cannot be taken.
func TestFeesThatArePaidAreBounded(t *testing.T) {
	t.Parallel()
	d := bounding(t, func(r *roster.Rule) { r.Fees = hourly(25e6) })
	d.wantReason(d.ordered(1, 1).costs(20), "")
	d.file = d.reopen(d.path)
	d.wantReason(d.ordered(2, 1).costs(6), ReasonWindow,
		"it may cost 6 EUR, and 20 of 25 may have been spent on fees within 1h")
	d.wantReason(d.ordered(3, 1).costs(5), "")
	d.wantReason(d.ordered(4, 1).costs(1), ReasonWindow)
	d.wantReason(d.ordered(4, 1, ann, bob).costs(1), "") // persons decide, by a rule without the bound
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(d.ordered(5, 1).costs(25), "")
}

// The attack: a thousand payments of one cent.
func TestPaymentsAreCounted(t *testing.T) {
	t.Parallel()
	d := bounding(t, func(r *roster.Rule) { r.Payments = hourly(2) })
	d.wantReason(d.ordered(1, 1), "")
	d.wantReason(d.ordered(1, 1).costs(2), "") // a replacement is no payment more
	d.file = d.reopen(d.path)
	d.wantReason(d.ordered(2, 1), "")
	d.wantReason(d.ordered(3, 1), ReasonWindow, "2 of 2 payments were signed within 1h")
	d.wantReason(d.ordered(1, 1).costs(3), "")
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(d.ordered(4, 1), "")
}

// The attack: one payment is replaced again and again, each time at a higher fee. Of what excludes each other the
// highest counts, not the sum, and no more than the rule has room for.
func TestAReplacementCountsOnceAtItsHighestFee(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *roster.Rule){
		"fees":         func(r *roster.Rule) { r.Fees = hourly(25e6) },
		"with a worth": func(r *roster.Rule) { r.Windows = hourly(27e6) }, // two payments of 1
	} {
		d := bounding(t, change)
		r := d.ordered(1, 1)
		for _, fee := range []uint64{5, 10, 7, 20} {
			d.wantReason(r.costs(fee), "")
		}
		d.wantReason(r.costs(27), ReasonWindow, "a replacement: rule small: ")
		d.file = d.reopen(d.path)
		d.wantReason(d.ordered(2, 1).costs(6), ReasonWindow)
		d.wantReason(d.ordered(2, 1).costs(5), "")
		d.wantReason(r.costs(21), ReasonWindow, "a replacement: rule small: ")
		d.wantReason(r.costs(19), "")
		if t.Failed() {
			t.Fatalf("with a bound of %s", name)
		}
	}
}

// What a replacement costs more counts from when it was signed, and then with all that it costs.
func TestALateReplacementCountsFromThenOn(t *testing.T) {
	t.Parallel()
	d := bounding(t, func(r *roster.Rule) { r.Fees = hourly(25e6) })
	r := d.ordered(1, 1)
	d.wantReason(r.costs(20), "")
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(d.ordered(2, 1).costs(5), "")
	d.wantReason(r.costs(20), "") // the same bytes
	d.wantReason(r.costs(21), ReasonWindow)
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(r.costs(21), "")
	d.wantReason(d.ordered(3, 1).costs(5), ReasonWindow)
	d.wantReason(d.ordered(3, 1).costs(4), "")
}

// batch is one transaction for payments of one unit, each with its order.
func (d *policyFixture) batch(n byte, fee uint64, orders ...byte) request {
	d.t.Helper()
	r := costing(d.paying(n, token("alice", 1)), int(n), fee)
	r.request.Payments, r.contents.Payments, r.unsigned.Orders = nil, nil, nil
	for _, order := range orders {
		p := token("alice", 1)
		r.request.Payments = append(r.request.Payments, p)
		r.contents.Payments = append(r.contents.Payments, p)
		r.unsigned.Orders = append(r.unsigned.Orders, d.approved(d.orderOf(order, r.chain, p)))
	}
	return r
}

// A fee is shared by the payments of its transaction, and counts once.
func TestAFeeIsSharedByItsPayments(t *testing.T) {
	t.Parallel()
	d := bounding(t, func(r *roster.Rule) { r.Fees, r.Payments = hourly(25e6), hourly(4) })
	d.paysSeveral()
	d.wantReason(d.batch(1, 26, 1, 2), ReasonWindow, "it may cost 13 EUR, and 13 of 25")
	d.wantReason(d.batch(2, 20, 1, 2), "")
	d.wantReason(d.batch(3, 1, 3, 4, 5), ReasonWindow, "4 of 4 payments")
	d.wantReason(d.batch(4, 3, 3, 4), "") // two each: a share is rounded up
	d.wantReason(d.ordered(5, 1, ann, bob).costs(9), "")
	again := d.batch(6, 21, 1, 2)
	again.contents.Reservations = []string{"hot/2"}
	d.wantReason(again, ReasonWindow, "a replacement")
}

// A transaction that pays another order too, and excludes one before: what it costs takes the place of what that cost.
func TestAnOrderMoreInAReplacementCountsOnce(t *testing.T) {
	t.Parallel()
	d := bounding(t, func(r *roster.Rule) { r.Fees = hourly(25e6) })
	d.paysSeveral()
	d.wantReason(d.batch(1, 20, 1), "")
	in := func(r request) request { r.contents.Reservations = []string{"hot/1"}; return r }
	d.wantReason(in(d.batch(2, 28, 1, 5)), ReasonWindow)
	d.wantReason(in(d.batch(2, 24, 1, 5)), "")
	d.wantReason(in(d.batch(3, 24, 6)), "") // alone, and no dearer
	d.wantReason(d.batch(4, 2, 7), ReasonWindow, "24 of 25")
	d.wantReason(d.batch(4, 1, 7), "")
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(d.batch(5, 20, 8), "")
	d.wantReason(in(d.batch(6, 24, 1, 9)), "") // what it costs has counted, in a window that has passed
}

// paysSeveral lets transactions of the chain with nonces pay several.
func (d *policyFixture) paysSeveral() {
	d.t.Helper()
	p := d.bounds[nonceChain]
	p.Capabilities.MaxPayments = 4
	d.bounds[nonceChain] = p
	d.file = d.reopen(d.path)
}

// signsFor gives an account a client's key, and returns what signs its orders.
func (d *policyFixture) signsFor(account bursar.ID, seed byte) func(r request) request {
	d.t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	public, err := orderkey.New(private.Public())
	d.must(err)
	d.must(d.file.Do(d.t.Context(), func(tx memory.Tx) error {
		return tx.AddOrderKey(d.t.Context(), memory.OrderKey{Account: account, ID: public.ID(), Public: public.String(),
			Name: "shop", From: d.clock.Now()})
	}))
	return func(r request) request {
		o := d.orderOf(r.request.ID[1], r.chain, r.contents.Payments[0])
		o.Account = account
		s := orderkey.Signature{KeyID: public.ID()}
		copy(s.Bytes[:], ed25519.Sign(private, []byte(o.Text())))
		r.unsigned.Orders = []chain.Order{{Text: o.Text(), Signature: s.String()}}
		return r
	}
}

// The attack: one client's key was stolen, and its account is drained as fast as the window of all allows. And anyone
// who controls the service says of each payment that it is of another account, for which nobody signs.
func TestEachAccountIsBoundedByItself(t *testing.T) {
	t.Parallel()
	d := bounding(t, func(r *roster.Rule) { r.PerAccount = hourly(15e6) })
	first, second := d.signsFor(bursar.ID{9}, 8), d.signsFor(bursar.ID{10}, 9)
	d.wantReason(first(d.ordered(1, 10)), "") // and a fee of 1
	d.file = d.reopen(d.path)
	d.wantReason(first(d.ordered(2, 4)), ReasonWindow,
		"it is worth 4 EUR and may cost 1, and 11 of 15 have left for its account within 1h")
	d.wantReason(second(d.ordered(3, 10)), "")
	d.wantReason(first(d.ordered(4, 3)), "")
	d.wantReason(first(d.ordered(5, 1)), ReasonWindow)
	for n := range byte(3) { // accounts of the service's own, without a key
		r := d.ordered(6+n, 1)
		o := d.orderOf(6+n, r.chain, r.contents.Payments[0])
		o.Account = bursar.ID{50, n}
		r.unsigned.Orders = []chain.Order{{Text: o.Text()}}
		d.wantReason(r, ReasonApproved)
	}
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(first(d.ordered(9, 10)), "")
}

// With no other rule the refusal says what is missing.
func TestARuleOfAccountsWantsASignature(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) {
		p.Rules[0].To, p.Rules[0].PerAccount = roster.ToAny, hourly(15e6)
		p.Rules = p.Rules[:1]
	})
	d.wantReason(d.ordered(1, 1), ReasonPolicy, "no client of the account signed the order")
}

// The attack: sweeps, moves and gas to and fro among our own addresses, which pay nobody and burn their fees. Nobody
// orders them, so the rule that allows them bounds them.
func TestMovesOfOurOwnMoneyAreBounded(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Rules[2].Fees, p.Rules[2].Payments = hourly(25e6), hourly(3) })
	d.wantReason(costing(d.sweep(), 1, 20), "")
	d.file = d.reopen(d.path)
	d.wantReason(costing(d.sweep(), 2, 6), ReasonWindow, "rule ours: it may cost 6 EUR, and 20 of 25")
	d.wantReason(costing(d.sweep(), 1, 22), "") // replaces the first
	d.wantReason(costing(d.sweep(), 1, 26), ReasonWindow, "a replacement: rule ours")
	d.wantReason(costing(d.sweep(), 2, 1), "")
	d.wantReason(costing(d.sweep(), 3, 1), "")
	d.wantReason(costing(d.sweep(), 4, 1), ReasonWindow, "3 of 3 payments")
	d.wantReason(d.ordered(5, 5, ann, bob).costs(50), "") // another rule
}

// A policy whose rule for these moves has no bound is as it was.
func TestMovesWithoutABoundAreAsTheyWere(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	for n := range 20 {
		d.wantReason(costing(d.sweep(), n+1, 50), "")
	}
}

// After a state was lost every bound counts as used up until its time has passed: nobody knows what was signed.
func TestAfterAColdStartEveryBoundIsFull(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *roster.Rule){
		"fees": func(r *roster.Rule) { r.Fees = hourly(25e6) }, "count": func(r *roster.Rule) { r.Payments = hourly(9) },
		"per_account": func(r *roster.Rule) { r.PerAccount = hourly(25e6) },
	} {
		d := bounding(t, change)
		signs := d.signsFor(bursar.ID{9}, 8)
		d.wantReason(signs(d.ordered(1, 1)), "")
		d.close()
		d.must(memory.BeginAgain(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now(), Cold: true}, "op",
			"test"))
		d.harness.signer = nil
		file, err := memory.Open(t.Context(), d.path, "seed")
		d.must(err)
		t.Cleanup(func() { file.Close() })
		d.restart(file)
		d.file = file
		d.wantReason(signs(d.ordered(2, 1)), ReasonWindow)
		d.clock.Advance(time.Hour + time.Second)
		d.wantReason(signs(d.ordered(3, 1)), "")
		if t.Failed() {
			t.Fatalf("with a bound of %s", name)
		}
	}
}

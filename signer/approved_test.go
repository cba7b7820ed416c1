package signer

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// The seeds of the keys of persons.
const (
	ann byte = iota + 1
	bob
	cat
	outsider
)

func TestWithoutAPolicyNothingIsAsked(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.wantReason(b.withNonce(), "")
	b.wantReason(b.withUTXOs(), "")
	if p, err := b.signer.Policy(t.Context()); err != nil || p.Text != "" || p.Instance == "" {
		t.Errorf("got %+v, %v, want no policy", p, err)
	}
}

// The attack: the state is removed, and with it the policy.
func TestWithoutARequiredPolicyNothingIsSigned(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.signer.RequirePolicy()
	d.wantReason(d.ordered(1, 11, ann, bob), "")
	d.restart(memory.NewRAM())
	d.signer.RequirePolicy()
	d.wantReason(d.ordered(2, 11, ann, bob), ReasonPolicy, "no policy is installed, and the configuration requires one")
	d.wantReason(costing(d.sweep(), 3, 1), ReasonPolicy)
}

// The attack: anyone who controls the service orders a payment that no person approved.
func TestAPaymentNeedsPersons(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.wantReason(d.ordered(1, 11), ReasonApproved, "0 of 2 approvals by different persons of role approver")
	d.wantReason(d.ordered(1, 11, ann), ReasonApproved, "1 of 2")
	d.wantReason(d.ordered(1, 11, ann, ann), ReasonApproved, "1 of 2")
	d.wantReason(d.ordered(1, 11, ann, outsider), ReasonApproved, "1 of 2", "belongs to nobody in the policy")
	d.wantReason(d.ordered(1, 11, ann, bob), "")
	no := d.ordered(2, 11, ann, bob)
	o := d.orderOf(2, nonceChain, token("alice", 11))
	against := d.approvalOf(o)
	against.Decision = approval.No
	no.unsigned.Orders[0].Approvals = append(no.unsigned.Orders[0].Approvals, chain.SignedText{Text: against.Text(),
		Signature: signedBy(t, approval.NamespaceApproval, against.Text(), cat)[0]})
	d.wantReason(no, ReasonApproved, "cat said no")
}

// The attack: approvals of one payment are shown for another, or another time, signer or version of the policy.
func TestApprovalsAreOfOneOrder(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	of := func(n byte, change func(o *approval.Order)) request {
		r := d.ordered(n, 11)
		o := d.orderOf(n, nonceChain, token("alice", 11))
		change(&o)
		r.unsigned.Orders = []chain.Order{d.approved(o, ann, bob)}
		return r
	}
	for name, test := range map[string]struct {
		r    request
		want Reason
	}{
		"no order":        {func() request { r := d.ordered(1, 11); r.unsigned.Orders = nil; return r }(), ReasonPaysOrder},
		"another amount":  {of(1, func(o *approval.Order) { o.Units = bursar.Units(12) }), ReasonPaysOrder},
		"another address": {of(1, func(o *approval.Order) { o.To.Base = "mallory" }), ReasonPaysOrder},
		"another tag":     {of(1, func(o *approval.Order) { o.To.HasMemo = true }), ReasonPaysOrder},
		"another asset":   {of(1, func(o *approval.Order) { o.Contract = "" }), ReasonPaysOrder},
		"another chain":   {of(1, func(o *approval.Order) { o.Chain = utxoChain }), ReasonPaysOrder},
		"another signer":  {of(1, func(o *approval.Order) { o.Instance = "ANOTHER" }), ReasonOrderFresh},
		"an expired order": {of(2, func(o *approval.Order) {
			o.Expires = o.Created.Add(time.Nanosecond * 1e9)
			o.Created = o.Created.Add(-time.Hour)
			o.Expires = o.Created.Add(time.Minute)
		}), ReasonOrderFresh},
		"one yet to come": {of(2, func(o *approval.Order) { o.Created = o.Created.Add(time.Hour) }), ReasonOrderFresh},
		"no text": {func() request { r := d.ordered(2, 11); r.unsigned.Orders[0].Text = "pay alice\n"; return r }(),
			ReasonPaysOrder},
		"an order more": {func() request {
			r := d.ordered(2, 11, ann, bob)
			r.unsigned.Orders = append(r.unsigned.Orders, d.approved(d.orderOf(3, nonceChain, token("alice", 11)), ann, bob))
			return r
		}(), ReasonPaysOrder},
		"another's approval": {func() request {
			r := d.ordered(2, 11)
			r.unsigned.Orders[0].Approvals = d.ordered(4, 11, ann, bob).unsigned.Orders[0].Approvals
			return r
		}(), ReasonApproved},
	} {
		t.Log(name)
		d.wantReason(test.r, test.want)
	}
	dear := d.ordered(5, 11)
	o := d.orderOf(5, nonceChain, token("alice", 11))
	o.MaxFee = bursar.Units(9)
	dear.contents.Fee, dear.unsigned.Fee = bursar.Units(10), bursar.Units(10)
	dear.unsigned.Orders = []chain.Order{d.approved(o, ann, bob)}
	d.wantReason(dear, ReasonFee, "allows a fee of 9")
	late := d.ordered(6, 11, ann, bob)
	d.clock.Advance(approval.Longest)
	d.wantReason(late, ReasonApproved, "0 of 2", "expired: the approval")
	next := d.policy
	next.Version, next.Previous, next.Rules = 2, d.policy.Hash(), d.policy.Rules[1:]
	before := d.ordered(7, 11, ann, bob)
	d.install(next)
	d.wantReason(before, ReasonApproved, "under version 1 of the policy, which is at 2")
	d.wantReason(d.ordered(7, 11, ann, bob), "")
	d.wantReason(d.ordered(8, 1), ReasonApproved) // the rule for small ones is gone
}

// The attack: one approved payment is made twice, by another transaction beside the first.
func TestApprovalsServeOneTransaction(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	first := d.ordered(1, 11, ann, bob)
	d.wantReason(first, "")
	d.wantReason(first, "") // the same bytes
	beside := first
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(beside, ReasonApproved, "0 of 2", "used before: the approval")
	d.file = d.reopen(d.path)
	d.wantReason(beside, ReasonApproved, "used before: the approval")
	beside.unsigned.Orders = d.ordered(1, 11, ann, bob).unsigned.Orders
	d.wantReason(beside, ReasonApproved, "0 of 2", "this would be payment 2 of the order", "of payment 1 of the order")
	o := d.orderOf(1, nonceChain, token("alice", 11))
	beside.unsigned.Orders = []chain.Order{d.approvedAs(3, o, ann, bob)}
	d.wantReason(beside, ReasonApproved, "of payment 3 of the order")
	beside.unsigned.Orders = []chain.Order{d.approvedAs(2, o, ann, bob)} // they approve a second payment
	d.wantReason(beside, "")
	again := beside
	again.contents.Reservations = []string{"hot/8"}
	d.wantReason(again, ReasonApproved, "this would be payment 3 of the order")

	// A replacement is no second payment: it needs no approval, also after those of the first have expired.
	d.clock.Advance(2 * approval.Longest)
	bumped := first
	bumped.unsigned.Orders[0].Approvals = nil
	bumped.contents.Fee, bumped.unsigned.Fee = bursar.Units(20), bursar.Units(20)
	d.wantReason(bumped, "")
	other := d.ordered(2, 11)
	other.contents.Reservations = bumped.contents.Reservations
	d.wantReason(other, ReasonApproved) // a replacement that pays something else
}

// The attack: a destination that the service made up, or took off no list.
func TestADestinationIsSignedAndHeld(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Rules = p.Rules[:1] })
	d.wantReason(d.ordered(1, 10), ReasonDestination, "alice is not a signed destination that is past its hold")
	d.list("alice", false)
	d.clock.Advance(time.Hour - time.Minute)
	d.wantReason(d.ordered(1, 10), ReasonDestination)
	d.clock.Advance(time.Minute)
	d.file = d.reopen(d.path)
	d.wantReason(d.ordered(1, 10), "")
	d.list("alice", true)
	d.wantReason(d.ordered(2, 10), ReasonDestination)
	d.clock.Advance(time.Second) // a text made in the second of the removal does not count
	d.list("alice", false)
	d.clock.Advance(40 * 24 * time.Hour)
	d.wantReason(d.ordered(3, 10), ReasonDestination) // until when it may be paid has passed
}

func TestSeveralPaymentsNeedEachTheirOrder(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	both := func() request {
		r := d.withUTXOs()
		r.unsigned.Orders = nil
		for i, p := range r.request.Payments {
			r.unsigned.Orders = append(r.unsigned.Orders, d.approved(d.orderOf(byte(i+1), r.chain, p), ann, cat))
		}
		return r
	}
	r := both()
	r.unsigned.Orders[1].Approvals = nil
	d.wantReason(r, ReasonApproved)
	r = both()
	r.unsigned.Orders = r.unsigned.Orders[:1]
	d.wantReason(r, ReasonPaysOrder, "there are 1 orders for 2 payments")
	r = both()
	r.unsigned.Orders[1] = r.unsigned.Orders[0]
	d.wantReason(r, ReasonPaysOrder)
	d.wantReason(both(), "")
}

// What no rule allows is refused: our own movements too.
func TestOurOwnMovementsNeedARule(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.wantReason(costing(d.sweep(), 1, 1), "")
	d.wantReason(costing(d.topUp(), 2, 1), ReasonPolicy, "no rule is about a gas_top_up")
	d.wantReason(d.sweepOnEd25519(), "") // an asset without a price moves among our own addresses
}

func TestAPolicyThatHasNotBegunAllowsNothing(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.NotBefore = p.NotBefore.Add(time.Hour) })
	d.wantReason(d.ordered(1, 11, ann, bob), ReasonPolicy, "no policy is in force before")
	d.clock.Advance(time.Hour)
	d.wantReason(d.ordered(1, 11, ann, bob), "")
}

// A state that was lost, or set back, is another instance: what was approved for the one before is approved again.
func TestAfterAColdStartNothingOldCounts(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	old := d.ordered(1, 11, ann, bob)
	d.list("alice", false)
	d.close()
	d.must(memory.BeginAgain(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now(), Cold: true}, "op",
		"test"))
	d.harness.signer = nil
	file, err := memory.Open(t.Context(), d.path, "seed")
	d.must(err)
	t.Cleanup(func() { file.Close() })
	d.restart(file)
	d.file = file
	d.clock.Advance(50 * time.Minute)
	d.wantReason(old, ReasonOrderFresh, "this one is "+d.instance())
	d.clock.Advance(15 * time.Minute)
	d.wantReason(d.ordered(2, 10), "") // the window has passed
	if p, err := d.signer.Policy(t.Context()); err != nil || p.Text != d.policy.Text() || p.Instance != d.instance() {
		t.Errorf("got %+v, %v, want the policy of before", p, err)
	}
}

func TestTheLogSaysWhoApproved(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.wantReason(d.ordered(1, 11, cat, bob), "")
	var last memory.Entry
	d.must(d.file.Do(t.Context(), func(tx memory.Tx) (err error) {
		last, err = tx.Head(t.Context())
		return err
	}))
	if !strings.Contains(last.Detail, `"policy":1,"rule":"large","by":["cat","bob"]`) {
		t.Errorf("got %s, want who approved it", last.Detail)
	}
}

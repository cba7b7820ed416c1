package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// saying adds what a person says about a request's order.
func (d *policyFixture) saying(r request, o approval.Order, seed byte, decision approval.Decision) request {
	d.t.Helper()
	a := d.approvalOf(o)
	a.Decision = decision
	evidence := r.unsigned.Orders[0]
	evidence.Approvals = append(append([]chain.SignedText(nil), evidence.Approvals...), chain.SignedText{Text: a.Text(),
		Signature: signedBy(d.t, approval.NamespaceApproval, a.Text(), seed)[0]})
	r.unsigned.Orders = []chain.Order{evidence}
	return r
}

// The attack: a no is shown to the signer until a day has passed, or not a second time.
func TestANoIsRemembered(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	plain := d.ordered(1, 11)
	d.wantReason(d.saying(plain, o, cat, approval.No), ReasonApproved, "cat said no")
	d.clock.Advance(2 * approval.Longest)
	d.file = d.reopen(d.path)
	both := d.saying(d.saying(plain, o, ann, approval.Yes), o, bob, approval.Yes)
	d.wantReason(both, ReasonApproved, "cat said no")
	next := d.policy
	next.Version, next.Previous, next.Hold = 2, d.policy.Hash(), 2*time.Hour
	d.install(next)
	both = d.saying(d.saying(plain, o, ann, approval.Yes), o, bob, approval.Yes)
	d.wantReason(both, ReasonApproved, "cat said no") // under another version too
	d.clock.Advance(time.Second)
	d.wantReason(d.saying(both, o, cat, approval.Yes), "")
}

// A no ends with the person.
func TestTheNoOfWhoeverIsGoneEnds(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	plain := d.ordered(1, 11)
	d.wantReason(d.saying(plain, o, cat, approval.No), ReasonApproved, "cat said no")
	next := d.policy
	next.Version, next.Previous, next.People = 2, d.policy.Hash(), d.policy.People[:2]
	d.install(next)
	d.wantReason(d.saying(d.saying(plain, o, ann, approval.Yes), o, bob, approval.Yes), "")
}

// An approval by a person who is removed counts no more at once, though the version that removes them waits, and a hold
// that began with it begins again.
func TestWhoeverIsRemovedHasApprovedNothing(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Rules[1].Hold = time.Hour })
	r := d.ordered(1, 11, ann, cat)
	d.wantReason(r, ReasonHold, "held for 1h from now on")
	next := d.policy
	next.Version, next.Previous, next.People = 2, d.policy.Hash(), d.policy.People[:2] // without cat
	next.Destinations, next.NotBefore = 1, d.clock.Now().UTC().Truncate(time.Second).Add(roster.LooseningWait)
	before := d.policy
	d.install(next)
	d.policy = before // which is in force
	d.clock.Advance(time.Hour)
	d.wantReason(r, ReasonApproved, "1 of 2")
	o := d.orderOf(1, nonceChain, token("alice", 11))
	o.Created, o.Expires = o.Created.Add(-time.Hour), o.Expires.Add(-time.Hour)
	again := d.saying(r, o, bob, approval.Yes)
	d.wantReason(again, ReasonHold, "held for 1h from now on")
	d.clock.Advance(time.Hour)
	d.wantReason(again, "")
}

// The attack: the service makes up the signature of a person.
func TestAForgedSignatureFreezes(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	froze := []memory.Freeze{}
	d.arm(&froze)
	d.wantReason(d.ordered(1, 11, ann, outsider), ReasonApproved) // which no key of the policy is said to have made
	forged := d.ordered(2, 11, ann, bob)
	other := d.ordered(3, 11, bob)
	forged.unsigned.Orders[0].Approvals[1].Signature = other.unsigned.Orders[0].Approvals[0].Signature
	d.wantReason(forged, ReasonForged, "which did not make it")
	d.wantReason(d.ordered(4, 11, ann, bob), ReasonFrozen, "forged")
	if len(froze) != 1 {
		t.Errorf("got frozen %+v, want once", froze)
	}
}

package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

const dan byte = 77

// Four persons approved one order of which the policy needs two: the service shows two of them at a time.
func TestSurplusApprovalsPayOnce(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) {
		key, err := sshsig.NewKey(personsKey(t, dan).PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		p.People = append(p.People, roster.Person{Name: "dan", Until: p.People[0].Until,
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}})
		sortPeople(p.People)
	})
	first := d.ordered(1, 11, ann, bob, cat, dan)
	all := first.unsigned.Orders[0].Approvals
	one := func(r request, list []chain.SignedText) request {
		r.unsigned.Orders = []chain.Order{{Text: r.unsigned.Orders[0].Text, Approvals: list}}
		return r
	}
	d.wantReason(one(first, all[:2]), "")
	beside := first
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(one(beside, all[2:]), ReasonApproved)
}

// One approval in each of two roles: each rule takes its own, and the order is paid by both.
func TestApprovalsInTwoRolesPayOnce(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) {
		p.Rules[1].Need = 1
		more := p.Rules[1]
		more.ID, more.Role = "second", roster.RoleAuthor
		p.Rules = append(p.Rules, more)
	})
	r := d.ordered(1, 11, ann)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	a := d.approvalOf(o)
	a.Role = roster.RoleAuthor
	r.unsigned.Orders[0].Approvals = append(r.unsigned.Orders[0].Approvals, chain.SignedText{Text: a.Text(),
		Signature: signedBy(t, "approval@bursar", a.Text(), bob)[0]})
	d.wantReason(r, "")
	beside := r
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(beside, ReasonApproved)
}

// An order that no approval is needed for is paid as often as the window lets it.
func TestAnOrderThatNobodyApprovesIsPaidOnce(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.list("alice", false)
	d.clock.Advance(time.Hour)
	r := d.ordered(1, 10)
	d.wantReason(r, "")
	beside := r
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(beside, ReasonApproved)
}

// A second payment of the same order, approved again, is held again.
func TestASecondPaymentIsHeldAgain(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Rules[1].Hold = 2 * time.Hour })
	r := d.ordered(1, 11, ann, bob)
	d.wantReason(r, ReasonHold)
	d.clock.Advance(2 * time.Hour)
	d.wantReason(r, "")
	o, err := approval.ParseOrder(r.unsigned.Orders[0].Text)
	d.must(err)
	beside := r
	beside.contents.Reservations = []string{"hot/7"}
	beside.unsigned.Orders = []chain.Order{d.approvedAs(2, o, ann, bob)}
	d.wantReason(beside, ReasonHold)
	d.clock.Advance(2 * time.Hour)
	d.wantReason(beside, "")
}

// A policy that was tightened stays so when the clock is set back to before that.
func TestAClockSetBackRevivesNoPolicy(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.wantReason(d.ordered(1, 11, ann, bob), "")
	d.clock.Advance(30 * time.Minute)
	stolen := d.ordered(2, 11, ann, bob)
	d.clock.Advance(30 * time.Minute)
	next := d.policy
	next.Version, next.Previous, next.NotBefore = 2, d.policy.Hash(), d.clock.Now().UTC().Truncate(time.Second)
	next.Created = next.NotBefore
	next.People = append([]roster.Person(nil), d.policy.People...)
	next.People = next.People[1:] // ann's key was stolen
	next.Rules = d.policy.Rules[:2]
	d.install(next)
	d.wantReason(stolen, ReasonApproved)
	d.clock.Advance(-30 * time.Minute)
	d.wantReason(stolen, ReasonClock)
}

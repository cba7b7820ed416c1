package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/sshsig"
)

// approves installs a policy on the signer's machine under which a payment needs two approvers, after a change of that
// rule and of the policy, and nothing is paid to an address of a customer that persons denied.
func (c *lyingService) approves(change func(r *roster.Rule), changes ...func(p *roster.Policy)) (p roster.Policy) {
	c.t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	rule := roster.Rule{ID: "two", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Each: bursar.Units(1e9),
		Need: 2, Role: roster.RoleApprover}
	if change != nil {
		change(&rule)
	}
	p = roster.Policy{Instance: c.instance(), Network: "mainnet", Version: 1, Created: now, NotBefore: now, Authors: 2,
		Destinations: 2, Hold: time.Hour, Reference: "EUR",
		Assets: []roster.Asset{{Name: "MATIC", Chain: bursar.Polygon, Decimals: 18, Price: bursar.Units(1e6)}},
		Rules:  []roster.Rule{rule}}
	for _, change := range changes {
		change(&p)
	}
	c.govern(p, func(_ int, one *roster.Person) { p.People = append(p.People, *one) })
	c.policy = p
	return p
}

// approved is a payment of one MATIC, approved by keys after a change of each approval.
func (c *lyingService) approved(change func(a *approval.Approval), keys ...byte) asked {
	c.t.Helper()
	r := c.ordered(unsigned, 0, nil)
	order := &r.draft.Orders[0]
	o, err := approval.ParseOrder(order.Text)
	c.must(err)
	now := time.Now().UTC().Truncate(time.Second)
	for _, key := range keys {
		a := approval.Approval{Instance: o.Instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
			Version: c.policy.Version, Policy: c.policy.Hash(), Created: now, Expires: now.Add(time.Hour),
			Nonce: approval.NewNonce(), Order: o}
		if change != nil {
			change(&a)
		}
		order.Approvals = append(order.Approvals, c.word(a, approval.NamespaceApproval, key))
	}
	return r
}

// word is an approval signed with a key in a namespace.
func (c *lyingService) word(a approval.Approval, namespace string, key byte) chain.SignedText {
	c.t.Helper()
	by, err := ssh.NewSignerFromKey(clientKey(key))
	c.must(err)
	signature, err := sshsig.Sign(by, namespace, []byte(a.Text()))
	c.must(err)
	return chain.SignedText{Text: a.Text(), Signature: signature}
}

// attacksOnPeople are asked of a signer whose policy demands two approvers for each payment.
func attacksOnPeople() []attack {
	of := func(change func(a *approval.Approval)) func(c *lyingService) asked {
		return func(c *lyingService) asked { return c.approved(change, annsKey, bobsKey) }
	}
	by := func(keys ...byte) func(c *lyingService) asked {
		return func(c *lyingService) asked { return c.approved(nil, keys...) }
	}
	list := []attack{
		{"approved", "a payment that nobody approved", signer.ReasonApproved, by()},
		{"approved", "a payment that one of two approved", signer.ReasonApproved, by(annsKey)},
		{"approved", "a payment that one person approved twice", signer.ReasonApproved, by(annsKey, annsKey)},
		{"approved", "an approval by a key of the service's own", signer.ReasonApproved, by(annsKey, mallorysKey)},
		{"approved", "approvals of a smaller amount", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Order.Units = bursar.Units(1) })},
		{"approved", "approvals of another address", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Order.To.Base = "0x00000000000000000000000000000000DeaDBeef" })},
		{"approved", "approvals of the same on another chain", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Order.Chain = bursar.Ethereum })},
		{"approved", "approvals of another order", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Order.ID = bursar.ID{7} })},
		{"approved", "approvals for another signer", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Instance, a.Order.Instance = "OTHER", "OTHER" })},
		{"approved", "approvals under another policy", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Policy[0] ^= 1 })},
		{"approved", "approvals of a second payment", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Payment = 2 })},
		{"approved", "approvals in a role that the rule does not ask for", signer.ReasonApproved,
			of(func(a *approval.Approval) { a.Role = roster.RoleAuthor })},
		{"approved", "approvals that have expired", signer.ReasonApproved, of(func(a *approval.Approval) {
			a.Created, a.Expires = a.Created.Add(-2*time.Hour), a.Created.Add(-time.Hour)
		})},
		{"approved", "a yes of two beside a no of one", signer.ReasonApproved, func(c *lyingService) asked {
			r := c.approved(nil, annsKey, bobsKey)
			no := c.approved(func(a *approval.Approval) { a.Decision = approval.No }, annsKey)
			o, err := approval.ParseOrder(r.draft.Orders[0].Text)
			c.must(err)
			a, err := approval.ParseApproval(no.draft.Orders[0].Approvals[0].Text)
			c.must(err)
			a.Order = o
			list := &r.draft.Orders[0].Approvals
			*list = append(*list, c.word(a, approval.NamespaceApproval, annsKey))
			return r
		}},
		{"approved", "a text that was signed as a policy", signer.ReasonApproved, func(c *lyingService) asked {
			r := c.approved(nil, annsKey, bobsKey)
			a, err := approval.ParseApproval(r.draft.Orders[0].Approvals[1].Text)
			c.must(err)
			r.draft.Orders[0].Approvals[1] = c.word(a, approval.NamespacePolicy, bobsKey)
			return r
		}},
		{"approved", "a payment's approvals again, for another transaction", signer.ReasonApproved,
			func(c *lyingService) asked {
				first := c.approved(nil, annsKey, bobsKey)
				c.want("what two persons approved", first, "")
				again := c.polygons(func(*evmPayload) {})
				again.draft.Orders = first.draft.Orders
				return again
			}},
		{"policy", "an asset that the policy does not name", signer.ReasonPolicy, func(c *lyingService) asked {
			a := honest["USDT on Polygon"](c)
			c.order(&a, unsigned, 0, nil)
			return a
		}},
	}
	slices.SortStableFunc(list, func(a, b attack) int { return strings.Compare(a.rule, b.rule) })
	return list
}

// attacksOnRules are asked of a signer whose policy has one more condition, each of a signer of its own.
func attacksOnRules() []attack {
	approved := func(c *lyingService) asked { return c.approved(nil, annsKey, bobsKey) }
	return []attack{
		{"destination", "a payment that two approved, to an address that nobody signed", signer.ReasonDestination,
			func(c *lyingService) asked {
				c.approves(func(r *roster.Rule) { r.To = roster.ToListed })
				return approved(c)
			}},
		{"hold", "a payment that two approved, within its hold", signer.ReasonHold, func(c *lyingService) asked {
			c.approves(func(r *roster.Rule) { r.Hold = time.Hour })
			return approved(c)
		}},
		{"hours", "a payment that two approved, on another day than it may be signed", signer.ReasonHours,
			func(c *lyingService) asked {
				day := time.Now().UTC().AddDate(0, 0, 3).Format("Mon")
				c.approves(func(r *roster.Rule) { r.Hours = roster.Hours(day + "-" + day + " 00-24") })
				return approved(c)
			}},
		{"window", "a payment that two approved, past what may leave in an hour", signer.ReasonWindow,
			func(c *lyingService) asked {
				c.approves(func(r *roster.Rule) {
					r.Windows = []roster.Window{{Length: time.Hour, Most: bursar.Units(1_500_000)}}
				})
				c.want("the first of them", approved(c), "")
				return approved(c)
			}},
	}
}

// TestTheLyingServiceHasPeopleAsked asks a signer in the real process for what the people of its policy did not
// approve.
func TestTheLyingServiceHasPeopleAsked(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.approves(nil)
	c.want("what two persons approved", c.approved(nil, annsKey, bobsKey), "")
	for _, a := range attacksOnPeople() {
		c.want(a.what, a.ask(c), a.reason)
	}
	c.want("what two persons approved", c.approved(nil, annsKey, bobsKey), "")
}

// TestTheLyingServiceIsHeldToTheRules does so with one more condition of the policy at a time.
func TestTheLyingServiceIsHeldToTheRules(t *testing.T) {
	t.Parallel()
	for _, a := range slices.Concat(attacksOnRules(), attacksOnBounds()) {
		c := newLyingService(t)
		c.want(a.what, a.ask(c), a.reason)
	}
}

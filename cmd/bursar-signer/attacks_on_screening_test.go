package main

import (
	"crypto/ed25519"
	"encoding/base64"
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
	"github.com/bursar/bursar/verdict"
)

// The keys of the screening service and of two persons, by their number as in clientKey.
const (
	screenersKey = 50
	annsKey      = 51
	bobsKey      = 52
)

// screens installs a policy on the signer's machine under which nothing leaves without a pass of the last hour.
func (c *lyingService) screens() {
	c.t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	p := roster.Policy{Instance: c.instance(), Network: "mainnet", Version: 1, Created: now, NotBefore: now, Authors: 2,
		Destinations: 2, Hold: time.Hour, Reference: "EUR",
		Screeners: []ed25519.PublicKey{clientKey(screenersKey).Public().(ed25519.PublicKey)},
		Assets:    []roster.Asset{{Name: "MATIC", Chain: bursar.Polygon, Decimals: 18, Price: bursar.Units(1e6)}},
		Rules: []roster.Rule{{ID: "passed", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Each: bursar.Units(1e9),
			Screened: time.Hour}}}
	c.govern(p, nil)
}

// govern has ann and bob sign a policy and installs it on the signer's machine. change adds to what the policy says of
// each of them.
func (c *lyingService) govern(p roster.Policy, change func(i int, one *roster.Person)) {
	c.t.Helper()
	var signatures []string
	for i, name := range []string{"ann", "bob"} {
		key, err := ssh.NewSignerFromKey(clientKey(byte(annsKey + i)))
		c.must(err)
		public, err := sshsig.NewKey(key.PublicKey())
		c.must(err)
		one := roster.Person{Name: name, Until: p.Created.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{public}}
		if change != nil {
			change(i, &one)
		}
		p.People = append(p.People, one)
	}
	for i, name := range []string{"ann", "bob"} {
		key, err := ssh.NewSignerFromKey(clientKey(byte(annsKey + i)))
		c.must(err)
		signature, err := sshsig.Sign(key, approval.NamespacePolicy, []byte(p.Text()))
		c.must(err)
		c.write("policy."+name, signature)
		signatures = append(signatures, "policy."+name)
	}
	c.write("policy", p.Text())
	c.want0(append([]string{"apply", "policy"}, signatures...)...)
}

// screened is a payment of one MATIC with an answer to what is asked about it, signed with a key.
func (c *lyingService) screened(key byte, change func(q *verdict.Request, a *verdict.Answer)) asked {
	c.t.Helper()
	a := c.ordered(unsigned, 0, nil)
	a.draft.Orders[0].Screening = c.answered(a, key, change)
	return a
}

func (c *lyingService) answered(
	of asked, key byte, change func(q *verdict.Request, a *verdict.Answer),
) chain.Screening {
	c.t.Helper()
	o, err := approval.ParseOrder(of.draft.Orders[0].Text)
	c.must(err)
	now := time.Now().UTC().Truncate(time.Second)
	q := verdict.Request{Instance: "-", Subject: o.ID, Kind: verdict.OfPayout, Order: o.ID, Account: o.Account,
		Chain: o.Chain, Contract: o.Contract, Address: o.To, Units: o.Units, Asking: o.ID, Created: now}
	a := verdict.Answer{Instance: "-", Subject: o.ID, Verdict: verdict.Pass, List: "1", Created: now,
		Expires: now.Add(time.Hour)}
	if change != nil {
		change(&q, &a)
	}
	a.Request = approval.HashOf(q.Text())
	return chain.Screening{Request: q.Text(), Text: a.Text(),
		Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(clientKey(key), []byte(a.Text())))}
}

// attacksOnScreening are asked of a signer whose policy demands passes.
func attacksOnScreening() []attack {
	changed := func(change func(q *verdict.Request, a *verdict.Answer)) func(c *lyingService) asked {
		return func(c *lyingService) asked { return c.screened(screenersKey, change) }
	}
	list := []attack{
		{"screened", "a payment without an answer of the screening service", signer.ReasonScreened,
			func(c *lyingService) asked { return c.ordered(unsigned, 0, nil) }},
		{"screened", "a payment that the screening service wants reviewed", signer.ReasonScreened,
			changed(func(_ *verdict.Request, a *verdict.Answer) { a.Verdict = verdict.Review })},
		{"screened", "a payment that the screening service rejected", signer.ReasonScreened,
			changed(func(_ *verdict.Request, a *verdict.Answer) { a.Verdict = verdict.Reject })},
		{"screened", "a review made into a pass after it was signed", signer.ReasonScreened, func(c *lyingService) asked {
			a := c.screened(screenersKey, func(_ *verdict.Request, a *verdict.Answer) { a.Verdict = verdict.Review })
			s := &a.draft.Orders[0].Screening
			s.Text = strings.Replace(s.Text, "verdict: review", "verdict: pass", 1)
			return a
		}},
		{"screened", "a pass signed with a key of the service's own", signer.ReasonScreened,
			func(c *lyingService) asked { return c.screened(mallorysKey, nil) }},
		{"screened", "the pass of another order", signer.ReasonScreened, func(c *lyingService) asked {
			a, b := c.screened(screenersKey, nil), c.screened(screenersKey, nil)
			a.draft.Orders[0].Screening = b.draft.Orders[0].Screening
			return a
		}},
		{"screened", "the pass of another address", signer.ReasonScreened,
			changed(func(q *verdict.Request, _ *verdict.Answer) {
				q.Address.Base = "0x00000000000000000000000000000000DeaDBeef"
			})},
		{"screened", "the pass of a smaller amount", signer.ReasonScreened,
			changed(func(q *verdict.Request, _ *verdict.Answer) { q.Units = bursar.Units(1) })},
		{"screened", "the pass of the same address on another chain", signer.ReasonScreened,
			changed(func(q *verdict.Request, _ *verdict.Answer) { q.Chain = bursar.Ethereum })},
		{"screened", "the pass of a deposit", signer.ReasonScreened,
			changed(func(q *verdict.Request, _ *verdict.Answer) { q.Kind = verdict.OfDeposit })},
		{"screened", "a pass that has expired", signer.ReasonScreened, changed(func(_ *verdict.Request, a *verdict.Answer) {
			a.Created, a.Expires = a.Created.Add(-2*time.Hour), a.Created.Add(-time.Minute)
		})},
		{"screened", "a pass from before the time that the policy allows", signer.ReasonScreened,
			changed(func(_ *verdict.Request, a *verdict.Answer) { a.Created = a.Created.Add(-2 * time.Hour) })},
		{"screened", "a pass from the future", signer.ReasonScreened, changed(func(_ *verdict.Request, a *verdict.Answer) {
			a.Created, a.Expires = a.Created.Add(time.Hour), a.Expires.Add(time.Hour)
		})},
	}
	slices.SortStableFunc(list, func(a, b attack) int { return strings.Compare(a.rule, b.rule) })
	return list
}

// TestTheLyingServiceIsScreened asks a signer whose policy demands passes, in the real process, for what the screening
// service did not pass.
func TestTheLyingServiceIsScreened(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.screens()
	c.want("what was passed", c.screened(screenersKey, nil), "")
	for _, a := range attacksOnScreening() {
		c.want(a.what, a.ask(c), a.reason)
	}
	two := c.screened(screenersKey, nil)
	c.want("what was passed", two, "")
	again := c.polygons(func(*evmPayload) {})
	again.draft.Orders = two.draft.Orders
	c.want("the same order again, in a transaction that excludes nothing", again, signer.ReasonApproved)
}

package main

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/passkey/passkeytest"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
)

// asksPasskeys installs a policy on the signer's machine under which two persons approve each payment in a browser.
func (c *lyingService) asksPasskeys() (p roster.Policy) {
	c.t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	site, err := passkey.ParseOrigin(passkeytest.Origin)
	c.must(err)
	p = roster.Policy{Instance: c.instance(), Network: "mainnet", Version: 1, Created: now, NotBefore: now, Authors: 2,
		Destinations: 2, Hold: time.Hour, Reference: "EUR", Site: site,
		Assets: []roster.Asset{{Name: "MATIC", Chain: bursar.Polygon, Decimals: 18, Price: bursar.Units(1e6)}},
		Rules: []roster.Rule{{ID: "seen", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Each: bursar.Units(1e9),
			Need: 2, Role: roster.RoleApprover, Keys: []roster.KeyKind{roster.KeyHardware, roster.KeyPasskey}}}}
	c.govern(p, func(i int, one *roster.Person) {
		one.Passkeys = []passkey.Key{passkeytest.New(c.t, byte(i+1)).Key()}
		p.People = append(p.People, *one)
	})
	return p
}

// seen is a payment of one MATIC, which ann approved, and which somebody else approved with a passkey by its number.
func (c *lyingService) seen(
	p roster.Policy, by byte, change func(a *approval.Approval), touch func(*passkeytest.Touch),
) asked {
	c.t.Helper()
	r := c.ordered(unsigned, 0, nil)
	order := &r.draft.Orders[0]
	o, err := approval.ParseOrder(order.Text)
	c.must(err)
	now := time.Now().UTC().Truncate(time.Second)
	for _, seed := range []byte{1, by} {
		a := approval.Approval{Instance: o.Instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
			Version: 1, Policy: p.Hash(), Created: now, Expires: now.Add(time.Hour), Nonce: approval.NewNonce(), Order: o}
		said := func(*passkeytest.Touch) {}
		if seed == by && change != nil {
			change(&a)
		}
		if seed == by && touch != nil {
			said = touch
		}
		order.Approvals = append(order.Approvals, chain.SignedText{Text: a.Text(),
			Signature: passkeytest.New(c.t, seed).Assert(c.t, approval.NamespaceApproval, a.Text(), said).Text()})
	}
	return r
}

// TestTheLyingServiceHasPasskeysAsked asks a signer in the real process for what people's passkeys did not approve.
func TestTheLyingServiceHasPasskeysAsked(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	p := c.asksPasskeys()
	first := c.seen(p, 2, nil, nil)
	c.want("what two persons approved", first, "")
	of := func(change func(a *approval.Approval)) asked { return c.seen(p, 2, change, nil) }
	said := func(touch func(o *passkeytest.Touch)) asked { return c.seen(p, 2, nil, touch) }
	for what, a := range map[string]asked{
		"two approvals by one person":    c.seen(p, 1, nil, nil),
		"one of a passkey of its own":    c.seen(p, 4, nil, nil),
		"one for another signer":         of(func(a *approval.Approval) { a.Instance, a.Order.Instance = "OTHER", "OTHER" }),
		"one of the same on another":     of(func(a *approval.Approval) { a.Order.Chain = bursar.Ethereum }),
		"one of another order":           of(func(a *approval.Approval) { a.Order.ID = bursar.ID{7} }),
		"one of a smaller amount":        of(func(a *approval.Approval) { a.Order.Units = bursar.Units(1) }),
		"one under another policy":       of(func(a *approval.Approval) { a.Policy[0] ^= 1 }),
		"one from the future":            of(func(a *approval.Approval) { a.Created = a.Created.Add(10 * time.Minute) }),
		"one that nobody touched":        said(func(o *passkeytest.Touch) { o.Flags = passkeytest.Verified }),
		"one without verification":       said(func(o *passkeytest.Touch) { o.Flags = passkeytest.Present }),
		"one at a site of its own":       said(func(o *passkeytest.Touch) { o.Origin = "https://console.example.net" }),
		"one below the site":             said(func(o *passkeytest.Touch) { o.Site = "example.com" }),
		"one of a page in its frame":     said(func(o *passkeytest.Touch) { o.More = `,"crossOrigin":true` }),
		"a sign-in instead of an answer": said(func(o *passkeytest.Touch) { o.Challenge = "c2lnbiBpbg" }),
		"a payment's approval again": func() asked {
			again := c.polygons(func(*evmPayload) {})
			again.draft.Orders = first.draft.Orders
			return again
		}(),
	} {
		c.want(what, a, signer.ReasonApproved)
	}
}

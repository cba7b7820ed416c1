package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/passkey/passkeytest"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

func saysNo(a *approval.Approval) { a.Decision = approval.No }

// The attack: the service shows one thing and has a passkey sign a yes, so that the no that its person gave with
// bursar-approve, which showed what it signed, ends.
func TestAPasskeyLiftsNoNoBySSH(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	plain := d.ordered(1, 11, ann, cat)
	both := d.saying(plain, o, bob, approval.No)
	d.clock.Advance(time.Second)
	both = d.touched(both, bob, nil)
	d.wantReason(both, ReasonApproved, "bob said no", "only by SSH")
	d.wantReason(d.touched(plain, bob, nil), ReasonApproved, "bob said no") // nor where the no is not shown again
	d.file = d.reopen(d.path)
	d.wantReason(d.touched(plain, bob, nil), ReasonApproved, "bob said no")
	d.clock.Advance(time.Second)
	d.wantReason(d.saying(both, o, bob, approval.Yes), "")
}

// A no by SSH lifts nothing of one by a passkey, and each is lifted by itself.
func TestANoOfEachKindIsLiftedByItself(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	plain := d.ordered(1, 11, ann, cat)
	d.wantReason(d.saying(plain, o, bob, approval.No), ReasonApproved, "bob said no")
	d.clock.Advance(time.Second)
	again := d.saying(plain, o, bob, approval.Yes)
	d.clock.Advance(time.Second)
	d.wantReason(d.touched(again, bob, saysNo), ReasonApproved, "bob said no")
	d.wantReason(again, ReasonApproved, "bob said no") // the yes by SSH was before it
	d.clock.Advance(time.Second)
	d.wantReason(d.touched(plain, bob, nil), ReasonApproved, "bob said no") // the yes by SSH is not shown
	d.wantReason(d.touched(again, bob, nil), "")
}

// A no that a release noted without its kind is of the strongest that its person has.
func TestANoOfAnUnknownKindIsOfTheStrongest(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	plain := d.ordered(1, 11, ann, cat)
	d.must(d.file.Do(t.Context(), func(tx memory.Tx) error {
		return tx.AddDenial(t.Context(), memory.Digest(approval.HashOf(plain.unsigned.Orders[0].Text)),
			memory.Denial{Person: "bob", At: d.clock.Now().UTC().Truncate(time.Second)})
	}))
	d.clock.Advance(time.Second)
	d.wantReason(d.touched(plain, bob, nil), ReasonApproved, "bob said no")
	d.wantReason(d.saying(plain, o, bob, approval.Yes), "")
}

// A yes by SSH lifts what a passkey said.
func TestSSHLiftsTheNoOfAPasskey(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	o := d.orderOf(1, nonceChain, token("alice", 11))
	plain := d.ordered(1, 11, ann, cat)
	d.wantReason(d.touched(plain, bob, saysNo), ReasonApproved, "bob said no")
	d.clock.Advance(time.Second)
	d.wantReason(d.saying(plain, o, bob, approval.Yes), "")
}

// While a version waits that changes the site of passkeys, they approve nothing. A person who has nothing else can say
// no.
func TestANoCountsWhileAnotherSiteWaits(t *testing.T) {
	t.Parallel()
	const site = "https://next.example.com"
	d := newPolicyFixture(t, func(p *roster.Policy) {
		var err error
		if p.Site, err = passkey.ParseOrigin(passkeytest.Origin); err != nil {
			t.Fatal(err)
		}
		p.People[2].Keys, p.People[2].Passkeys = nil, []passkey.Key{passkeytest.New(t, cat).Key()}
		p.Rules[1].Keys = []roster.KeyKind{roster.KeySSH, roster.KeyPasskey}
	})
	d.wantReason(d.touched(d.ordered(1, 11), cat, saysNo), ReasonApproved, "cat said no")
	before, next := d.policy, d.policy
	next.Version, next.Previous, next.People = 2, d.policy.Hash(), append([]roster.Person(nil), d.policy.People...)
	next.NotBefore = next.NotBefore.Add(24 * time.Hour)
	var err error
	next.Site, err = passkey.ParseOrigin(site)
	d.must(err)
	next.People[2].Passkeys = []passkey.Key{passkeytest.New(t, outsider).Key()}
	d.install(next)
	d.policy = before
	d.wantReason(d.ordered(1, 11, ann, bob), ReasonApproved, "cat said no") // what was said before stands
	atNext := func(o *passkeytest.Touch) { o.Origin, o.Site = site, "next.example.com" }
	d.wantReason(d.touched(d.ordered(2, 11, ann, bob), cat, saysNo), ReasonApproved, "cat said no")
	d.wantReason(d.touched(d.ordered(3, 11, ann, bob), outsider, saysNo, atNext), ReasonApproved, "cat said no")
	d.wantReason(d.ordered(3, 11, ann, bob), ReasonApproved, "cat said no")
	d.wantReason(d.touched(d.ordered(4, 11, ann), cat, nil), ReasonApproved, "1 of 2") // a yes counts at neither
	d.wantReason(d.touched(d.ordered(4, 11, ann), outsider, nil, atNext), ReasonApproved, "1 of 2")
	d.wantReason(d.touched(d.ordered(5, 11, ann, bob), cat, saysNo, atNext), "") // each key at its own site
}

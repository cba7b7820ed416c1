package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/passkey/passkeytest"
	"github.com/bursar/bursar/roster"
)

// newPasskeyFixture is a policy fixture whose people have passkeys too, which count for large payments.
func newPasskeyFixture(t *testing.T, keys ...roster.KeyKind) *policyFixture {
	t.Helper()
	return newPolicyFixture(t, func(p *roster.Policy) {
		var err error
		if p.Site, err = passkey.ParseOrigin(passkeytest.Origin); err != nil {
			t.Fatal(err)
		}
		for i, seed := range []byte{ann, bob, cat} {
			p.People[i].Passkeys = []passkey.Key{passkeytest.New(t, seed).Key()}
		}
		p.Rules[1].Keys = keys
	})
}

// touched adds an approval by a passkey to a request.
func (d *policyFixture) touched(
	r request, seed byte, change func(a *approval.Approval), touch ...func(*passkeytest.Touch),
) request {
	d.t.Helper()
	evidence := r.unsigned.Orders[0]
	o, err := approval.ParseOrder(evidence.Text)
	d.must(err)
	a := d.approvalOf(o)
	if change != nil {
		change(&a)
	}
	made := passkeytest.New(d.t, seed).Assert(d.t, approval.NamespaceApproval, a.Text(), touch...)
	evidence.Approvals = append(append([]chain.SignedText(nil), evidence.Approvals...),
		chain.SignedText{Text: a.Text(), Signature: made.Text()})
	r.unsigned.Orders = []chain.Order{evidence}
	return r
}

func counting(n uint32) func(*passkeytest.Touch) { return func(o *passkeytest.Touch) { o.Counter = n } }

func TestPasskeysApproveWhereTheyCount(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	d.wantReason(d.touched(d.ordered(1, 11), ann, nil), ReasonApproved, "1 of 2")
	d.wantReason(d.touched(d.ordered(1, 11, ann), ann, nil), ReasonApproved, "1 of 2") // one person with two keys
	d.wantReason(d.touched(d.touched(d.ordered(1, 11), ann, nil), outsider, nil), ReasonApproved, "1 of 2",
		"belongs to nobody in the policy")
	both := d.touched(d.touched(d.ordered(1, 11), ann, nil), bob, nil)
	d.wantReason(both, "")
	d.wantReason(d.touched(d.ordered(2, 11, ann), cat, nil), "") // with an SSH key beside it
	beside := both
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(beside, ReasonApproved, "used before: the approval")
	d.wantReason(d.touched(d.ordered(3, 11, ann, bob), cat, saysNo), ReasonApproved, "cat said no")

	usual := newPasskeyFixture(t)
	r := usual.touched(usual.ordered(1, 11, ann), bob, nil)
	usual.wantReason(r, ReasonApproved, "1 of 2",
		"1 more with keys of a kind that does not count here, which are sk and ssh")
	usual.wantReason(usual.touched(usual.ordered(2, 11, ann, bob), cat, saysNo), ReasonApproved, "cat said no")
	usual.wantReason(usual.touched(usual.ordered(3, 11, ann, bob), cat, nil), "")
}

// The attack: an assertion that was made elsewhere, without its owner, or for something else.
func TestWhatAPasskeyDidNotApprove(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeyPasskey)
	type touch = passkeytest.Touch
	for says, change := range map[string]func(o *touch){
		"nobody was present":                              func(o *touch) { o.Flags = passkeytest.Verified },
		"did not verify its owner":                        func(o *touch) { o.Flags = passkeytest.Present },
		`the assertion is for "https://evil.example.com"`: func(o *touch) { o.Origin = "https://evil.example.com" },
		"its relying party is not":                        func(o *touch) { o.Site = "example.com" },
		"its challenge is not of this text":               func(o *touch) { o.Challenge = "AAAA" },
		"in a frame of another page":                      func(o *touch) { o.More = `,"crossOrigin":true` },
		"bytes, want 37":                                  func(o *touch) { o.Data = []byte{0xa0} },
		`"origin" is there twice`:                         func(o *touch) { o.More = `,"origin":"https://console.example.com"` },
	} {
		d.wantReason(d.touched(d.touched(d.ordered(1, 11), ann, nil), bob, nil, change), ReasonApproved, "1 of 2", says)
	}
	forged := d.touched(d.touched(d.ordered(1, 11), ann, nil), bob, nil)
	other := d.touched(d.ordered(2, 11), bob, nil).unsigned.Orders[0].Approvals[0].Signature
	a, err := passkey.Parse(other)
	d.must(err)
	a.AuthenticatorData[32] ^= 1
	forged.unsigned.Orders[0].Approvals[1].Signature = a.Text()
	d.wantReason(forged, ReasonForged, "which did not make it")
}

// The attack: the secret of a passkey is copied, and the copy signs beside it.
func TestACopiedPasskeyIsSeenByItsCounter(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	by := func(n byte, counter uint32) request {
		return d.touched(d.ordered(n, 11, ann), bob, nil, counting(counter))
	}
	d.wantReason(by(1, 5), "")
	d.wantReason(by(2, 4), "") // of two that were asked for at once, either may be touched first
	d.file = d.reopen(d.path)
	d.wantReason(by(3, 0), ReasonApproved, "the passkey was copied", "the approval by bob has 0")
	d.wantReason(by(3, 5), ReasonApproved, "the passkey was copied", "the approval by bob has 5", "has 5")
	d.clock.Advance(time.Hour)
	d.wantReason(by(3, 3), ReasonApproved, "the passkey was copied", "the approval by bob has 3")
	d.wantReason(by(3, 0), ReasonApproved, "the passkey was copied", "the approval by bob has 0")
	again := by(3, 6)
	d.wantReason(again, "")
	d.wantReason(again, "") // the same bytes once more
	early := d.touched(d.ordered(4, 11, ann), bob, func(a *approval.Approval) {
		a.Created = a.Created.Add(-30 * time.Minute)
		a.Expires = a.Created.Add(time.Hour)
	}, counting(7))
	d.wantReason(early, ReasonApproved, "the passkey was copied")
	for n := byte(5); n < 8; n++ { // a passkey that does not count says nothing
		d.wantReason(d.touched(d.ordered(n, 11, ann), cat, nil), "")
	}
	no := d.touched(d.ordered(8, 11, ann, cat), bob, saysNo, counting(5))
	d.wantReason(no, ReasonApproved, "bob said no") // it stops a payment anyone who says it
}

// The attack: the no of somebody who has nothing but a passkey is not shown a second time.
func TestANoByAPasskeyAloneIsRemembered(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) {
		var err error
		if p.Site, err = passkey.ParseOrigin(passkeytest.Origin); err != nil {
			t.Fatal(err)
		}
		p.People[2].Keys, p.People[2].Passkeys = nil, []passkey.Key{passkeytest.New(t, cat).Key()}
		p.Rules[1].Keys = []roster.KeyKind{roster.KeySSH, roster.KeyPasskey}
	})
	d.wantReason(d.touched(d.ordered(1, 11), cat, saysNo), ReasonApproved, "cat said no")
	d.wantReason(d.ordered(1, 11, ann, bob), ReasonApproved, "cat said no")
	next := d.policy
	next.Version, next.Previous, next.People = 2, d.policy.Hash(), d.policy.People[:2]
	d.install(next)
	d.wantReason(d.ordered(1, 11, ann, bob), "") // it ends with the person
}

// The attack: a copy of a passkey says yes after its owner said no, so that the no is not the last word.
func TestACopiedPasskeyDoesNotTakeBackANo(t *testing.T) {
	t.Parallel()
	d := newPasskeyFixture(t, roster.KeySSH, roster.KeyPasskey)
	d.wantReason(d.touched(d.ordered(1, 11, ann), bob, nil, counting(5)), "")
	r := d.touched(d.ordered(2, 11, ann, cat), bob, saysNo, counting(6))
	d.clock.Advance(time.Second)
	d.wantReason(d.touched(r, bob, nil, counting(5)), ReasonApproved, "bob said no")
	d.wantReason(d.touched(r, bob, nil, counting(6)), "") // bob says yes
}

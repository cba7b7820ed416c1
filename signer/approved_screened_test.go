package signer

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/verdict"
)

func screeningKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

// screenedFixture is a policy fixture whose policy lets nothing leave that the service did not pass within an hour,
// unless two persons approve it.
func screenedFixture(t *testing.T) *policyFixture {
	t.Helper()
	return newPolicyFixture(t, func(p *roster.Policy) {
		p.Screeners = []ed25519.PublicKey{screeningKey(1).Public().(ed25519.PublicKey)}
		p.Rules[0].To, p.Rules[0].Screened = roster.ToAny, time.Hour
	})
}

// screened is a withdrawal of a token with the answer of the screening service to what is asked about it.
func (d *policyFixture) screened(n byte, key byte, change func(q *verdict.Request, a *verdict.Answer)) request {
	d.t.Helper()
	r := d.ordered(n, 5)
	o := d.orderOf(n, r.chain, r.contents.Payments[0])
	now := d.clock.Now().UTC().Truncate(time.Second)
	q := verdict.Request{Instance: "-", Subject: bursar.ID{8, n}, Kind: verdict.OfPayout, Order: o.ID, Account: o.Account,
		Chain: o.Chain, Contract: o.Contract, Address: o.To, Units: o.Units, Asking: bursar.ID{7, n}, Created: now}
	a := verdict.Answer{Instance: "-", Subject: q.Subject, Verdict: verdict.Pass, List: "1", Created: now,
		Expires: now.Add(2 * time.Hour)}
	if change != nil {
		change(&q, &a)
	}
	if a.Request == (approval.Hash{}) {
		a.Request = approval.HashOf(q.Text())
	}
	r.unsigned.Orders[0].Screening = chain.Screening{Request: q.Text(), Text: a.Text(),
		Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(screeningKey(key), []byte(a.Text())))}
	return r
}

func TestAPaymentNeedsAPass(t *testing.T) {
	t.Parallel()
	d := screenedFixture(t)
	d.wantReason(d.ordered(1, 5), ReasonScreened,
		"rule small: the screening service has not passed it: there is no answer")
	for say, change := range map[string]func(q *verdict.Request, a *verdict.Answer){
		"the service says review": func(_ *verdict.Request, a *verdict.Answer) { a.Verdict = verdict.Review },
		"the service says reject": func(_ *verdict.Request, a *verdict.Answer) { a.Verdict = verdict.Reject },
		"the answer expired at": func(_ *verdict.Request, a *verdict.Answer) {
			a.Created, a.Expires = a.Created.Add(-time.Hour), a.Created.Add(-time.Minute)
		},
		"which is ahead of this clock": func(_ *verdict.Request, a *verdict.Answer) {
			a.Created, a.Expires = a.Created.Add(time.Hour), a.Expires.Add(time.Hour)
		},
		"the answer is for another request": func(_ *verdict.Request, a *verdict.Answer) { a.Request = approval.Hash{1} },
		"and that counts for 1h": func(_ *verdict.Request, a *verdict.Answer) {
			a.Created = a.Created.Add(-time.Hour - time.Second)
		},
	} {
		d.wantReason(d.screened(1, 1, change), ReasonScreened, say)
	}
	for what, change := range map[string]func(q *verdict.Request){
		"order":    func(q *verdict.Request) { q.Order = bursar.ID{9, 99} },
		"account":  func(q *verdict.Request) { q.Account = bursar.ID{99} },
		"chain":    func(q *verdict.Request) { q.Chain = utxoChain },
		"asset":    func(q *verdict.Request) { q.Contract = "" },
		"address":  func(q *verdict.Request) { q.Address.Base = "bob" },
		"tag":      func(q *verdict.Request) { q.Address.HasMemo, q.Address.Memo = true, 1 },
		"amount":   func(q *verdict.Request) { q.Units = bursar.Units(4) },
		"a credit": func(q *verdict.Request) { q.Kind, q.TxID = verdict.OfDeposit, "tx" },
	} {
		t.Log("a pass of another " + what)
		d.wantReason(d.screened(1, 1, func(q *verdict.Request, _ *verdict.Answer) { change(q) }), ReasonScreened,
			"the service was asked about another payment")
	}
	d.wantReason(d.screened(1, 2, nil), ReasonScreened, "not signed by the key of the screening service")
	forged := d.screened(1, 1, nil)
	forged.unsigned.Orders[0].Screening.Signature = "x"
	d.wantReason(forged, ReasonScreened, "not signed by the key of the screening service")
	d.wantReason(d.screened(1, 1, nil), "")
}

// What the service wants reviewed, or does not answer, leaves only if persons of the policy allow it, by a rule that
// demands no pass.
func TestPersonsAllowWhatIsNotPassed(t *testing.T) {
	t.Parallel()
	d := screenedFixture(t)
	review := d.screened(1, 1, func(_ *verdict.Request, a *verdict.Answer) { a.Verdict = verdict.Review })
	d.wantReason(review, ReasonScreened)
	o := d.orderOf(1, review.chain, review.contents.Payments[0])
	answer := review.unsigned.Orders[0].Screening
	review.unsigned.Orders[0] = d.approved(o, ann, bob)
	review.unsigned.Orders[0].Screening = answer
	d.wantReason(review, "")
}

// What was signed is signed again, also once its pass has expired: its replacement excludes it.
func TestAReplacementNeedsNoNewPass(t *testing.T) {
	t.Parallel()
	d := screenedFixture(t)
	first := d.screened(1, 1, nil)
	d.wantReason(first, "")
	d.clock.Advance(3 * time.Hour)
	d.wantReason(first, "")
	bumped := costing(d.paying(1, token("alice", 5)), 1, 2)
	bumped.unsigned.Orders = first.unsigned.Orders
	d.wantReason(bumped, "")
	d.wantReason(d.ordered(2, 5), ReasonScreened)
}

// A screening key that a later version takes away does not count for the day in which that version waits.
func TestALostScreeningKeyEndsAtOnce(t *testing.T) {
	t.Parallel()
	d := screenedFixture(t)
	before := d.policy
	next := before
	next.Version, next.Previous = 2, before.Hash()
	next.NotBefore = d.clock.Now().UTC().Truncate(time.Second).Add(48 * time.Hour)
	next.Screeners = []ed25519.PublicKey{screeningKey(2).Public().(ed25519.PublicKey)}
	d.install(next)
	d.policy = before
	for _, key := range []byte{1, 2} {
		d.wantReason(d.screened(1, key, nil), ReasonScreened, "the policy has no screening key")
	}
	d.clock.Advance(49 * time.Hour)
	d.wantReason(d.screened(1, 1, nil), ReasonScreened, "not signed by the key")
	d.wantReason(d.screened(1, 2, nil), "")
}

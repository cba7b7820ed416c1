package signer

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/sshsig"
)

// The seeds of the keys of persons.
const (
	ann byte = iota + 1
	bob
	cat
	outsider
)

func personsKey(t *testing.T, seed byte) ssh.Signer {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func signedBy(t *testing.T, namespace, text string, seeds ...byte) (list []string) {
	t.Helper()
	for _, seed := range seeds {
		s, err := sshsig.Sign(personsKey(t, seed), namespace, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// desk is a signer with a policy, and the people who sign for it.
type desk struct {
	*bench
	path   string
	file   *memory.File
	policy roster.Policy
}

// newDesk installs a policy: 10 units of a token leave alone to listed destinations, more needs two persons and an
// hour.
func newDesk(t *testing.T, change func(p *roster.Policy)) *desk {
	t.Helper()
	d := &desk{bench: newBench(t, limited(func(*Policy) {}))}
	d.path = filepath.Join(t.TempDir(), "state")
	d.must(memory.Create(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now()}))
	d.file = d.reopen(d.path)
	now := d.clock.Now().UTC().Truncate(time.Second)
	d.policy = roster.Policy{Instance: d.instance(), Network: "testnet", Version: 1, Created: now, NotBefore: now,
		Authors: 2, Destinations: 2, Hold: time.Hour, Reference: "EUR",
		Assets: []roster.Asset{
			{Name: "COIN", Chain: nonceChain, Price: bursar.Units(1e6)},
			{Name: "TOKEN", Chain: nonceChain, Contract: "token", Price: bursar.Units(1e6)},
			{Name: "UTXO", Chain: utxoChain, Price: bursar.Units(1e6)}},
		Rules: []roster.Rule{
			{ID: "small", For: []string{roster.KindWithdrawal}, To: roster.ToListed, Each: bursar.Units(10e6),
				Windows: []roster.Window{{Length: time.Hour, Most: bursar.Units(25e6)}}},
			{ID: "large", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 2, Role: roster.RoleApprover},
			{ID: "ours", For: []string{roster.KindSweep}, To: roster.ToOwn},
		},
	}
	for name, seed := range map[string]byte{"ann": ann, "bob": bob, "cat": cat} {
		key, err := sshsig.NewKey(personsKey(t, seed).PublicKey())
		d.must(err)
		d.policy.People = append(d.policy.People, roster.Person{Name: name, Until: now.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}})
	}
	sortPeople(d.policy.People)
	if change != nil {
		change(&d.policy)
	}
	d.install(d.policy)
	return d
}

func sortPeople(list []roster.Person) {
	for i := range list {
		for k := range i {
			if list[i].Name < list[k].Name {
				list[i], list[k] = list[k], list[i]
			}
		}
	}
}

func (d *desk) instance() string {
	d.t.Helper()
	return d.signer.Checkpoint().Instance
}

func (d *desk) install(p roster.Policy) {
	d.t.Helper()
	text := p.Text()
	_, err := people.Install(d.t.Context(), d.file, text, signedBy(d.t, approval.NamespacePolicy, text, ann, bob),
		people.Here{Network: "testnet", Clock: d.clock.Now()})
	d.must(err)
	d.policy = p
}

// list signs a destination.
func (d *desk) list(base string, remove bool) {
	d.t.Helper()
	now := d.clock.Now().UTC().Truncate(time.Second)
	text := approval.Destination{Instance: d.instance(), Remove: remove, Chain: nonceChain, Any: true,
		To: bursar.Address{Base: base}, Created: now, Expires: now.Add(time.Hour), Until: now.AddDate(0, 1, 0),
		Nonce: approval.NewNonce()}.Text()
	_, err := people.Direct(d.t.Context(), d.file, text, signedBy(d.t, approval.NamespaceDestination, text, ann, cat),
		people.Here{Clock: d.clock.Now()})
	d.must(err)
}

// orderOf is the order of a payment, the first one of a number.
func (d *desk) orderOf(n byte, id bursar.ChainID, p chain.Payment) approval.Order {
	now := d.clock.Now().UTC().Truncate(time.Second)
	return approval.Order{Instance: d.instance(), Account: bursar.ID{9}, ID: bursar.ID{9, n}, Chain: id,
		Contract: p.Contract, To: p.Address, Units: p.Amount, Created: now, Expires: now.AddDate(0, 1, 0)}
}

func (d *desk) approvalOf(o approval.Order) approval.Approval {
	now := d.clock.Now().UTC().Truncate(time.Second)
	return approval.Approval{Instance: o.Instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
		Version: d.policy.Version, Policy: d.policy.Hash(), Created: now, Expires: now.Add(approval.Longest),
		Nonce: approval.NewNonce(), Order: o}
}

// approved is an order with approvals of persons, of its first payment.
func (d *desk) approved(o approval.Order, seeds ...byte) chain.Order {
	d.t.Helper()
	return d.approvedAs(1, o, seeds...)
}

// approvedAs is an order with approvals of persons, of a payment of it.
func (d *desk) approvedAs(payment int64, o approval.Order, seeds ...byte) chain.Order {
	d.t.Helper()
	evidence := chain.Order{Text: o.Text()}
	for _, seed := range seeds {
		a := d.approvalOf(o)
		a.Payment = payment
		text := a.Text()
		evidence.Approvals = append(evidence.Approvals, chain.SignedText{Text: text,
			Signature: signedBy(d.t, approval.NamespaceApproval, text, seed)[0]})
	}
	return evidence
}

// ordered is a withdrawal of a token with a nonce of its own, and its order.
func (d *desk) ordered(n byte, units uint64, seeds ...byte) request {
	r := costing(d.paying(n, token("alice", units)), int(n), 1)
	r.unsigned.Orders = []chain.Order{d.approved(d.orderOf(n, r.chain, r.contents.Payments[0]), seeds...)}
	return r
}

func TestWithoutAPolicyNothingIsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.wantReason(b.withNonce(), "")
	b.wantReason(b.withUTXOs(), "")
	if p, err := b.signer.Policy(t.Context()); err != nil || p.Text != "" || p.Instance == "" {
		t.Errorf("got %+v, %v, want no policy", p, err)
	}
}

// The attack: the state is removed, and with it the policy.
func TestWithoutARequiredPolicyNothingIsSigned(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
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
	d := newDesk(t, nil)
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
	d := newDesk(t, nil)
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
	d.wantReason(late, ReasonApproved, "0 of 2", "it has expired")
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
	d := newDesk(t, nil)
	first := d.ordered(1, 11, ann, bob)
	d.wantReason(first, "")
	d.wantReason(first, "") // the same bytes
	beside := first
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(beside, ReasonApproved, "0 of 2", "it was used before")
	d.file = d.reopen(d.path)
	d.wantReason(beside, ReasonApproved, "it was used before")
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
	d := newDesk(t, func(p *roster.Policy) { p.Rules = p.Rules[:1] })
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

// The attack: many small payments in place of a large one.
func TestWindowsOfThePolicyAreKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.list("alice", false)
	d.clock.Advance(time.Hour)
	d.wantReason(d.ordered(1, 10), "")
	d.wantReason(d.ordered(2, 10), "")
	d.file = d.reopen(d.path)
	d.wantReason(d.ordered(3, 6), ReasonWindow, "20 of 25 have left within 1h")
	d.wantReason(d.ordered(4, 5), "")
	d.wantReason(d.ordered(5, 6, ann, bob), "") // beyond what leaves alone, persons decide
	d.wantReason(d.ordered(6, 1), ReasonWindow)
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(d.ordered(7, 10), "")
}

func TestAHoldBeginsAtTheSigner(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(p *roster.Policy) { p.Rules[1].Hold = 2 * time.Hour })
	r := d.ordered(1, 11, ann, bob)
	d.clock.Advance(time.Hour) // while nobody shows the approvals to the signer
	d.wantReason(d.ordered(1, 11, ann), ReasonApproved)
	d.wantReason(r, ReasonHold, "it is held for 2h from now on")
	d.clock.Advance(time.Hour)
	d.file = d.reopen(d.path)
	d.wantReason(r, ReasonHold, "it is held until")
	d.clock.Advance(time.Hour)
	r.unsigned.Orders[0].Approvals = r.unsigned.Orders[0].Approvals[:1]
	d.wantReason(r, ReasonApproved) // it needs them still
}

func TestAHoldEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(p *roster.Policy) { p.Rules[1].Hold, p.Rules[1].Hours = 2*time.Hour, "Mon-Sun 00-24" })
	r := d.ordered(1, 11, ann, bob)
	d.wantReason(r, ReasonHold)
	d.clock.Advance(2*time.Hour - time.Second)
	d.wantReason(r, ReasonHold)
	d.clock.Advance(time.Second)
	d.wantReason(r, "")
}

func TestSeveralPaymentsNeedEachTheirOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
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
	d := newDesk(t, nil)
	d.wantReason(costing(d.sweep(), 1, 1), "")
	d.wantReason(costing(d.topUp(), 2, 1), ReasonPolicy, "no rule is about a gas_top_up")
	d.wantReason(d.sweepOnEd25519(), "") // an asset without a price moves among our own addresses
}

func TestAPolicyThatHasNotBegunAllowsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(p *roster.Policy) { p.NotBefore = p.NotBefore.Add(time.Hour) })
	d.wantReason(d.ordered(1, 11, ann, bob), ReasonPolicy, "no policy is in force before")
	d.clock.Advance(time.Hour)
	d.wantReason(d.ordered(1, 11, ann, bob), "")
}

// A state that was lost, or set back, is another instance: what was approved for the one before is approved again.
func TestAfterAColdStartNothingOldCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	old := d.ordered(1, 11, ann, bob)
	d.list("alice", false)
	d.close()
	d.must(memory.BeginAgain(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now(), Cold: true}, "op",
		"test"))
	d.bench.signer = nil
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
	d := newDesk(t, nil)
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

// Killed at any statement, the signer has either not taken the approvals or signs the same transaction again; never
// another one by them.
func TestACrashTakesApprovalsOnceAtMost(t *testing.T) {
	t.Parallel()
	steps := 0
	for n := 1; ; n++ {
		d := newDesk(t, nil)
		r := d.ordered(1, 11, ann, bob)
		left, step := "", 0
		d.file.OnStep(func(string) error {
			if step++; step != n {
				return nil
			}
			left = copyState(t, d.path)
			return errKilled
		})
		_, err := d.sign(r)
		if left == "" {
			break
		}
		if steps = n; !errors.Is(err, errKilled) {
			t.Fatalf("killed at step %d it returns %v, want %v", n, err, errKilled)
		}
		d.file.OnStep(nil)
		d.file = d.reopen(left)
		d.wantReason(r, "")
		beside := r
		beside.contents.Reservations = []string{"hot/7"}
		d.wantReason(beside, ReasonApproved, "it was used before")
	}
	if steps < 9 {
		t.Errorf("it was killed at %d steps, want more", steps)
	}
}

// However many ask at once, no more leaves than the window holds.
func TestManyOrdersAgainstOneWindow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.list("alice", false)
	d.clock.Advance(time.Hour)
	var list []request
	for n := range byte(40) {
		r := d.ordered(n+1, 10)
		unsigned, err := json.Marshal(r.contents)
		d.must(err)
		r.unsigned.Bytes = unsigned
		list = append(list, r)
	}
	var signed atomic.Int64
	var group sync.WaitGroup
	for _, r := range list {
		group.Go(func() {
			if _, err := d.signer.Sign(t.Context(), r.chain, r.request, r.unsigned); err == nil {
				signed.Add(1)
			}
		})
	}
	group.Wait()
	if got := signed.Load(); got != 2 {
		t.Errorf("got %d payments of 10 signed, want 2 within a window of 25", got)
	}
}

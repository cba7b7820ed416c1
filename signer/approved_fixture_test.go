package signer

import (
	"bytes"
	"crypto/ed25519"
	"path/filepath"
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

// policyFixture is a signer with a policy, and the people who sign for it.
type policyFixture struct {
	*harness
	path   string
	file   *memory.File
	policy roster.Policy
}

// newPolicyFixture installs a policy: 10 units of a token leave alone to listed destinations, more needs two persons
// and an hour.
func newPolicyFixture(t *testing.T, change func(p *roster.Policy)) *policyFixture {
	t.Helper()
	return newPolicyFixtureOn(newHarness(t, limited(func(*Bounds) {})), change)
}

// newPolicyFixtureOn is newPolicyFixture with a signer's own limits.
func newPolicyFixtureOn(b *harness, change func(p *roster.Policy)) *policyFixture {
	t := b.t
	t.Helper()
	d := &policyFixture{harness: b}
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

func (d *policyFixture) instance() string {
	d.t.Helper()
	return d.signer.Checkpoint().Instance
}

func (d *policyFixture) install(p roster.Policy) {
	d.t.Helper()
	text := p.Text()
	_, err := people.Install(d.t.Context(), d.file, text, signedBy(d.t, approval.NamespacePolicy, text, ann, bob),
		people.Here{Network: p.Network, Clock: d.clock.Now()})
	d.must(err)
	d.policy = p
}

// list signs a destination.
func (d *policyFixture) list(base string, remove bool) {
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
func (d *policyFixture) orderOf(n byte, id bursar.ChainID, p chain.Payment) approval.Order {
	now := d.clock.Now().UTC().Truncate(time.Second)
	return approval.Order{Instance: d.instance(), Account: bursar.ID{9}, ID: bursar.ID{9, n}, Chain: id,
		Contract: p.Contract, To: p.Address, Units: p.Amount, Created: now, Expires: now.AddDate(0, 1, 0)}
}

func (d *policyFixture) approvalOf(o approval.Order) approval.Approval {
	now := d.clock.Now().UTC().Truncate(time.Second)
	return approval.Approval{Instance: o.Instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
		Version: d.policy.Version, Policy: d.policy.Hash(), Created: now, Expires: now.Add(approval.Longest),
		Nonce: approval.NewNonce(), Order: o}
}

// approved is an order with approvals of persons, of its first payment.
func (d *policyFixture) approved(o approval.Order, seeds ...byte) chain.Order {
	d.t.Helper()
	return d.approvedAs(1, o, seeds...)
}

// approvedAs is an order with approvals of persons, of a payment of it.
func (d *policyFixture) approvedAs(payment int64, o approval.Order, seeds ...byte) chain.Order {
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
func (d *policyFixture) ordered(n byte, units uint64, seeds ...byte) request {
	r := costing(d.paying(n, token("alice", units)), int(n), 1)
	r.unsigned.Orders = []chain.Order{d.approved(d.orderOf(n, r.chain, r.contents.Payments[0]), seeds...)}
	return r
}

package relay_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/sshsig"
	"github.com/bursar/bursar/store"
)

// harness is a chain whose signer has a policy, and the service's relay.
type harness struct {
	*bursartest.OneChain
	relay  *relay.Relay
	policy roster.Policy
	now    time.Time     // at which everybody signs
	ahead  *atomic.Int64 // how far the signer's clock is ahead, in nanoseconds
}

func keyOf(t *testing.T, seed byte) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(t *testing.T, seed byte, namespace, text string) string {
	t.Helper()
	s, err := sshsig.Sign(keyOf(t, seed), namespace, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newHarness gives the chain's signer a policy under which up to 1 COIN leaves alone, and more with two persons.
func newHarness(t *testing.T, r *bursartest.OneChain, changes ...func(p *roster.Policy)) *harness {
	t.Helper()
	ahead := &atomic.Int64{}
	ctx, id, keeper := t.Context(), r.Chain.Capabilities().ID, memory.NewRAM()
	signs, err := signer.NewWithMemory(ctx, r.Keys.Keys, map[bursar.ChainID]signer.Bounds{id: {
		Capabilities: r.Chain.Capabilities(), Signable: r.Chain, MaxFee: bursar.Units(1 << 30),
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}}, keeper)
	r.Must(err)
	now := time.Now().UTC().Truncate(time.Second)
	d := &harness{r, &relay.Relay{DB: r.DB, Registry: r.Registry}, roster.Policy{Instance: signs.Checkpoint().Instance,
		Network: "testnet", Version: 1, Created: now, NotBefore: now, Authors: 1, Destinations: 1, Reference: "COIN",
		Assets: []roster.Asset{{Name: "COIN", Chain: id, Decimals: 8, Price: bursar.Units(1e6)}},
		Rules: []roster.Rule{
			{ID: "small", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Each: bursar.Units(1e6)},
			{ID: "large", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 2, Role: roster.RoleApprover},
			{ID: "ours", For: []string{roster.KindConsolidation, roster.KindGasTopUp, roster.KindSweep}, To: roster.ToOwn}}},
		now, ahead}
	for _, change := range changes {
		change(&d.policy)
	}
	for i, name := range []string{"ann", "bob"} {
		key, err := sshsig.NewKey(keyOf(t, byte(i+1)).PublicKey())
		r.Must(err)
		d.policy.People = append(d.policy.People, roster.Person{Name: name, Until: now.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}})
	}
	text := d.policy.Text()
	_, err = people.Install(ctx, keeper, text, []string{sign(t, 1, approval.NamespacePolicy, text)},
		people.Here{Network: "testnet", Clock: time.Now()})
	r.Must(err)
	p, err := signs.Policy(ctx)
	r.Must(errors.Join(err, d.relay.Note(ctx, store.PolicyText{Instance: p.Instance, Text: p.Text})))
	r.Sender.Signer, r.Sender.Orders = signs, d.relay.Orders
	return d
}

func (d *harness) waiting() relay.Waiting {
	d.T.Helper()
	w, err := d.relay.Waiting(context.Background())
	d.Must(err)
	return w
}

// approve signs an order that waits and hands the approval in.
func (d *harness) approve(t *testing.T, seed byte, text string, decision approval.Decision) error {
	t.Helper()
	o, err := approval.ParseOrder(text)
	d.Must(err)
	now := d.now
	signed := approval.Approval{Instance: o.Instance, Decision: decision, Payment: 1, Role: roster.RoleApprover,
		Version: d.policy.Version, Policy: d.policy.Hash(), Created: now, Expires: now.Add(time.Hour),
		Nonce: approval.NewNonce(), Order: o}.Text()
	_, _, err = d.relay.Add(t.Context(), signed, sign(t, seed, approval.NamespaceApproval, signed))
	return err
}

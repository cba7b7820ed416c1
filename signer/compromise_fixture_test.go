package signer

import (
	"context"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// newCompromiseFixture is a signer with cold wallets on two chains, tight limits, and a policy that allows gas, and
// moves to cold of 10 units.
func newCompromiseFixture(t *testing.T) *policyFixture {
	t.Helper()
	return newCompromiseFixtureOn(t, "testnet")
}

func newCompromiseFixtureOn(t *testing.T, network string) *policyFixture {
	t.Helper()
	return newPolicyFixtureOn(newHarness(t, limited(func(p *Bounds) {
		switch p.Capabilities.ID {
		case nonceChain:
			p.Cold, p.ToCold = []string{"vault", "safe"}, Limits{Hour: bursar.Units(1)}
			p.Transfers, p.Fees = Limits{Hour: bursar.Units(2)}, Limits{Hour: bursar.Units(900)}
		case utxoChain:
			p.Cold = []string{"coins-vault"}
		}
	})), func(p *roster.Policy) {
		p.Network = network
		p.Rules = append(p.Rules, roster.Rule{ID: "chill", For: []string{roster.KindToCold}, To: roster.ToOwn,
			Each: bursar.Units(10e6)}, roster.Rule{ID: "gas", For: []string{roster.KindGasTopUp}, To: roster.ToOwn})
	})
}

// compromise is an order of now that the authors may sign.
func (d *policyFixture) compromise() approval.Compromise {
	now := d.clock.Now().UTC().Truncate(time.Second)
	return approval.Compromise{Instance: d.instance(), ID: approval.NewNonce(), Version: d.policy.Version,
		Policy: d.policy.Hash(), Created: now, Expires: now.AddDate(0, 6, 0), Cold: []approval.ColdDestination{
			{Chain: utxoChain, Base: "coins-vault"}, {Chain: nonceChain, Base: "vault"}}}
}

// useText applies an order with signatures of persons.
func (d *policyFixture) useText(text string, seeds ...byte) error {
	d.t.Helper()
	_, _, err := people.Use(d.t.Context(), d.file, text, signedBy(d.t, approval.NamespaceCompromise, text, seeds...),
		d.signer.coldOf, d.clock.Now())
	return err
}

func (d *policyFixture) use(c approval.Compromise) {
	d.t.Helper()
	d.must(d.useText(c.Text(), ann, bob))
}

// drill verifies an order as use does.
func (d *policyFixture) drill(text string, seeds ...byte) error {
	d.t.Helper()
	return d.file.Do(d.t.Context(), func(tx memory.Tx) error {
		_, _, err := people.Drill(d.t.Context(), tx, text, signedBy(d.t, approval.NamespaceCompromise, text, seeds...),
			d.signer.coldOf, d.clock.Now())
		return err
	})
}

// thaws ends every freeze, as authors do.
func (d *policyFixture) thaws(seeds ...byte) error {
	d.t.Helper()
	now := d.clock.Now().UTC().Truncate(time.Second)
	text := approval.Freeze{Instance: d.instance(), Thaw: true, Why: "over", Created: now, Expires: now.Add(time.Hour),
		Nonce: approval.NewNonce()}.Text()
	_, err := memory.ThawIf(d.t.Context(), d.file, d.clock.Now(),
		func(ctx context.Context, tx memory.Tx) (memory.Thawing, error) {
			t, _, err := people.Thawing(ctx, tx, text, signedBy(d.t, approval.NamespaceFreeze, text, seeds...), d.clock.Now())
			return t, err
		})
	return err
}

// again opens the state of this signer as after a restart.
func (d *policyFixture) again() {
	d.t.Helper()
	d.file = d.reopen(d.path)
}

package service_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// approvers are two persons who may do everything, at a service that does not run, with an account that has 10 COIN.
type approvers struct {
	*testing.T
	bursartest.Database
	service  *service.Service
	node     *sim.Chain
	shop     bursar.ID
	ann, bob proposal.Person
}

func newApprovers(t *testing.T, db *store.DB) *approvers {
	c := &approvers{T: t, Database: bursartest.Over(t, db), shop: bursar.ID{0: 0xa9},
		node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2}),
		ann:  proposal.Person{ID: bursar.ID{0: 1}, Name: "Ann"}, bob: proposal.Person{ID: bursar.ID{0: 2}, Name: "Bob"}}
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	c.Must(err)
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8,
		Minimum: bursar.Units(1), WithdrawalMinimum: bursar.Units(500), ApprovalAbove: bursar.Units(1000)}})
	c.Must(err)
	c.service, err = service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Holder: "a",
		Chains: []service.ChainPart{{Chain: c.node, MaxFee: bursar.Units(1 << 30)}}})
	c.Must(err)
	c.service.Proposals.May = func(context.Context, *store.Tx, bursar.ID, string, bursar.ID) error { return nil }
	c.AddAccount(bursar.Account{ID: c.shop})
	c.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	c.Credit(c.shop, "COIN", 1_000_000_000)
	return c
}

func (c *approvers) propose(p store.Proposal) store.Proposal {
	c.Helper()
	p.Reason, p.Token = "it is due", c.IDs.Next()
	p, err := c.service.Proposals.Propose(ctx, c.ann, p)
	c.Must(err)
	return p
}

// agree has Bob approve, and checks what comes of it.
func (c *approvers) agree(p store.Proposal, want store.ProposalStatus) store.Proposal {
	c.Helper()
	p, err := c.service.Proposals.Approve(ctx, c.bob, proposal.Approval{Proposal: p.ID, Hash: p.Hash})
	c.Must(err)
	if p.Status != want {
		c.Errorf("proposal %s is %s (%s), want %s", p.Verb, p.Status, p.Outcome, want)
	}
	return p
}

func (c *approvers) withdraw() bursar.Withdrawal {
	c.Helper()
	w, err := c.service.Withdrawals.Request(ctx, withdrawal.Request{Account: c.shop, Currency: "COIN", Amount: "1",
		Address: c.node.Named("buyer")})
	c.Must(err)
	if w.Status != bursar.WithdrawalPendingApproval {
		c.Fatalf("the withdrawal is %s, want pending_approval", w.Status)
	}
	return w
}

func (c *approvers) statusOf(id bursar.ID) (status bursar.WithdrawalStatus) {
	c.Helper()
	c.View(func(tx *store.Tx) error {
		w, err := tx.Withdrawals().Get(ctx, c.shop, id)
		status = w.Status
		return err
	})
	return status
}

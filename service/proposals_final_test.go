package service_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/treasury"
	"github.com/bursar/bursar/wallet"
)

// payingApprovers are approvers whose chain is followed and paid on, step by step, with operator funds in the hot
// wallet.
type payingApprovers struct {
	*approvers
	workers service.Workers
	lease   store.Lease
	wallet  bursar.Wallet // of the shop
}

func newPayingApprovers(t *testing.T, db *store.DB) *payingApprovers {
	c := &payingApprovers{approvers: newApprovers(t, db)}
	c.workers, c.lease = c.service.Workers(bursar.Bitcoin), c.AcquireLease(bursar.Bitcoin, "a")
	c.Must(c.service.Treasury.Open(ctx))
	c.mine(3)
	var err error
	c.wallet, err = c.service.Wallets.Create(ctx,
		wallet.New{Account: c.shop, Currency: "COIN", Webhook: "https://8.8.8.8/"})
	c.Must(err)
	c.node.Pay(chain.Payment{
		Address: bursar.Address{Base: c.service.Hot(bursar.Bitcoin).Base},
		Amount:  bursar.Units(1 << 32),
	})
	c.mine(3)
	return c
}

// mine adds blocks, and has the workers follow and pay.
func (c *payingApprovers) mine(n int) {
	c.Helper()
	for range n {
		c.node.Mine(1)
		for more := true; more; {
			var err error
			more, err = c.workers.Follower.Step(ctx, c.lease)
			c.Must(err)
		}
		c.Must(c.workers.Sender.Step(ctx, c.lease))
	}
}

// stranded is final value at the shop's address that belongs to no wallet.
func (c *payingApprovers) stranded(units uint64) (found bursar.Deposit) {
	c.Helper()
	tx := c.node.Send(sim.Outside{Inferred: true, Payments: []chain.Payment{{Address: c.wallet.Address,
		Amount: bursar.Units(units)}}})
	c.mine(3)
	c.View(func(t *store.Tx) error {
		list, err := t.Deposits().Unattributed(ctx, true, store.Page{Limit: 10})
		for _, d := range list {
			if d.TxID == tx {
				found = d
			}
		}
		return err
	})
	if found.ID.IsZero() {
		c.Fatal("nothing unattributed was found, want the deposit")
	}
	return found
}

// arrives checks what an address outside has once everything is final.
func (c *payingApprovers) arrives(what, address string, units uint64) {
	c.Helper()
	c.mine(5)
	if got := c.node.Balance(address, ""); got != bursar.Units(units) {
		c.Errorf("%s: the address has %s, want %d", what, got, units)
	}
	c.isFinal(what)
}

// isFinal checks that nothing is being paid any more.
func (c *payingApprovers) isFinal(what string) {
	c.Helper()
	c.View(func(tx *store.Tx) error {
		open, err := tx.Queues().OpenOutgoing(ctx, bursar.Bitcoin)
		if err == nil && open.Waiting != 0 {
			c.Errorf("%s: %d outgoing transactions are open, want every one final", what, open.Waiting)
		}
		return err
	})
}

func eachPayingApprovers(t *testing.T, test func(c *payingApprovers)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(newPayingApprovers(t, db)) })
}

// Two persons refund a charge's payment: it is paid from the customer's balance, and final.
func TestAnAgreedRefundIsPaid(t *testing.T) {
	eachPayingApprovers(t, func(c *payingApprovers) {
		d, err := c.service.Charges.CreateSum(ctx, charge.Terms{Account: c.shop, Currencies: []bursar.CurrencyCode{"COIN"},
			Unit: "COIN", Amount: "0.001", Webhook: "https://8.8.8.8/", Life: time.Hour, Hash: []byte("r")})
		c.Must(err)
		c.node.Pay(chain.Payment{Address: d.Options[0].Address, Amount: bursar.Units(160_000)})
		c.mine(3)
		var paid bursar.Deposit
		c.View(func(tx *store.Tx) error {
			v, err := tx.Invoices().Get(ctx, c.shop, d.ID)
			if err != nil {
				return err
			}
			list, err := tx.Invoices().Detail(ctx, []bursar.Invoice{v})
			paid = list[0].Payments[0].Deposit
			return err
		})
		before := c.Balance(ledger.Available(c.shop), "COIN")
		p := c.agree(c.propose(store.Proposal{Verb: "charge.refund", Object: paid.ID.String(), Detail: d.ID.String(),
			Currency: "COIN", Amount: bursar.Units(60_000), Destination: c.node.Named("payer")}), store.ProposalExecuted)
		w := c.withdrawalOf(p)
		if w.RequestedBy != "Ann" || w.Amount != bursar.Units(60_000) {
			c.Errorf("the refund is %+v, want 60000 requested by Ann", w)
		}
		c.approved(w)
		c.arrives("the refund", c.node.Named("payer"), 60_000)
		left, err := before.Sub(bursar.Units(60_000))
		if got := c.Balance(ledger.Available(c.shop), "COIN"); err != nil || got != left {
			c.Errorf("the shop has %s, want %s", got, left)
		}
	})
}

// withdrawalOf returns what a proposal made.
func (c *payingApprovers) withdrawalOf(p store.Proposal) (w bursar.Withdrawal) {
	c.Helper()
	id, err := bursar.ParseID(p.Outcome[len("withdrawal "):])
	c.Must(err)
	c.View(func(tx *store.Tx) error {
		w, err = tx.Withdrawals().ByID(ctx, id)
		return err
	})
	return w
}

// approved approves a withdrawal that is above the limit of its currency: a proposal does not take that away.
func (c *payingApprovers) approved(w bursar.Withdrawal) {
	c.Helper()
	if w.Status == bursar.WithdrawalPendingApproval {
		c.agree(c.propose(store.Proposal{Verb: "withdrawal.approve", Object: w.ID.String()}), store.ProposalExecuted)
	}
}

// Two persons pay operator funds to a destination of the treasury's list, and it is final.
func TestAgreedOperatorFundsArePaid(t *testing.T) {
	eachPayingApprovers(t, func(c *payingApprovers) {
		vault, err := c.node.ParseAddress(c.node.Named("vault"))
		c.Must(err)
		c.Do(func(tx *store.Tx) error {
			_, _, err := tx.Destinations().Insert(ctx, bursar.Destination{ID: c.IDs.Next(), AccountID: treasury.Account,
				Family: "bitcoin", Address: vault, Label: "vault", CreatedAt: tx.Now(), UsableFrom: tx.Now()})
			return err
		})
		p := c.agree(c.propose(store.Proposal{Verb: "treasury.withdraw", Currency: "COIN", Amount: bursar.Units(70_000),
			Destination: "vault"}), store.ProposalExecuted)
		w := c.withdrawalOf(p)
		c.approved(w)
		c.arrives("operator funds", vault.Base, 70_000)
	})
}

// Two persons resolve unattributed deposits in each way: a customer is credited, the sender is paid, the operator
// keeps.
func TestAgreedResolutionsAreFinal(t *testing.T) {
	eachPayingApprovers(t, func(c *payingApprovers) {
		for _, to := range []string{"wallet " + c.wallet.ID.String(), "account " + c.shop.String()} {
			before, d := c.Balance(ledger.Available(c.shop), "COIN"), c.stranded(80_000)
			c.agree(c.propose(store.Proposal{Verb: "unattributed.assign", Object: d.ID.String(), Destination: to}),
				store.ProposalExecuted)
			more, err := before.Add(bursar.Units(80_000))
			if got := c.Balance(ledger.Available(c.shop), "COIN"); err != nil || got != more {
				c.Errorf("assigned to %s: the shop has %s, want %s", to, got, more)
			}
		}
		for _, p := range []store.Proposal{{Destination: c.node.Named("first")},
			{Destination: c.node.Named("second"), Detail: "fee from operator funds"}} {
			d := c.stranded(90_000)
			p.Verb, p.Object = "unattributed.refund", d.ID.String()
			c.agree(c.propose(p), store.ProposalExecuted)
			c.mine(5)
			got, whole := c.node.Balance(p.Destination, ""), bursar.Units(90_000)
			if got.IsZero() || whole.Less(got) || (p.Detail != "") != (got == whole) {
				c.Errorf("refunded with %q: the sender has %s, want 90000, less the fee unless the operator pays it", p.Detail,
					got)
			}
			c.isFinal("a refund")
		}
		d := c.stranded(100_000)
		before := c.Balance(ledger.Capital, "COIN")
		c.agree(c.propose(store.Proposal{Verb: "unattributed.keep", Object: d.ID.String()}), store.ProposalExecuted)
		more, err := before.Add(bursar.Units(100_000))
		if got := c.Balance(ledger.Capital, "COIN"); err != nil || got != more {
			c.Errorf("kept: operator funds are %s, want %s", got, more)
		}
		again := store.Proposal{Verb: "unattributed.keep", Object: d.ID.String(), Reason: "r", Token: c.IDs.Next()}
		if _, err := c.service.Proposals.Propose(ctx, c.ann, again); err == nil {
			c.Error("kept again: got no error, want it refused")
		}
	})
}

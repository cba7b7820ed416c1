package service_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/treasury"
)

// A withdrawal that waits is approved as it was shown, once; one that was decided otherwise meanwhile makes its
// proposal void.
func TestTwoPersonsApproveAWithdrawal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		w := c.withdraw()
		p := c.propose(store.Proposal{Verb: "withdrawal.approve", Object: w.ID.String()})
		if p.Amount != w.Amount || p.Destination != w.Address.String() || p.AccountID != c.shop {
			t.Errorf("proposed is %+v, want the withdrawal's amount, address and account", p)
		}
		c.agree(p, store.ProposalExecuted)
		if got := c.statusOf(w.ID); got != bursar.WithdrawalQueued {
			t.Errorf("the withdrawal is %s, want queued", got)
		}
		for what, end := range map[string]func(id bursar.ID) error{
			"rejected": func(id bursar.ID) error {
				_, err := c.service.Withdrawals.Reject(ctx, id, "no")
				return err
			},
			"cancelled": func(id bursar.ID) error {
				_, err := c.service.Withdrawals.Cancel(ctx, id)
				return err
			},
			"approved by a command": func(id bursar.ID) error {
				_, err := c.service.Withdrawals.Approve(ctx, id)
				return err
			},
		} {
			w := c.withdraw()
			p := c.propose(store.Proposal{Verb: "withdrawal.approve", Object: w.ID.String()})
			c.Must(end(w.ID))
			was := c.statusOf(w.ID)
			if p = c.agree(p, store.ProposalVoid); c.statusOf(w.ID) != was || !strings.Contains(p.Outcome, string(was)) {
				t.Errorf("%s: the withdrawal is %s, want %s, and the outcome %q to say so", what, c.statusOf(w.ID), was,
					p.Outcome)
			}
		}
	})
}

// Operator funds are paid once two persons agree; more than there is makes the proposal void, and nothing is held.
func TestTwoPersonsPayOperatorFunds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		c.Must(c.service.Treasury.Open(ctx))
		order := store.Proposal{Verb: "treasury.withdraw", Currency: "COIN", Amount: bursar.Units(5000),
			Destination: c.node.Named("cold")}
		p := c.agree(c.propose(order), store.ProposalVoid)
		if !strings.Contains(p.Outcome, "destination") && !strings.Contains(p.Outcome, "list") {
			t.Errorf("the outcome is %q, want that the destination is not listed", p.Outcome)
		}
		order.Amount = bursar.Amount{}
		order.Reason, order.Token = "it is due", c.IDs.Next()
		var refused *bursar.Error
		if _, err := c.service.Proposals.Propose(ctx, c.ann, order); !errors.As(err, &refused) {
			t.Errorf("no amount: got %v, want it refused", err)
		}
		c.View(func(tx *store.Tx) error {
			list, err := tx.Withdrawals().List(ctx, treasury.Account, store.Page{Limit: 10})
			if len(list) != 0 {
				t.Errorf("the treasury has %d withdrawals, want none", len(list))
			}
			return err
		})
	})
}

// A label is proposed as the address that it has now: what it is given to later is not what was approved.
func TestALabelIsProposedAsItsAddress(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	c.Must(c.service.Treasury.Open(ctx))
	cold, err := c.node.ParseAddress(c.node.Named("cold"))
	c.Must(err)
	c.Do(func(tx *store.Tx) error {
		_, _, err := tx.Destinations().Insert(ctx, bursar.Destination{ID: c.IDs.Next(), AccountID: treasury.Account,
			Family: "bitcoin", Address: cold, Label: "vault", CreatedAt: tx.Now(), UsableFrom: tx.Now()})
		return err
	})
	p := c.propose(store.Proposal{Verb: "treasury.withdraw", Currency: "COIN", Amount: bursar.Units(5000),
		Destination: "vault"})
	if p.Destination != cold.String() {
		t.Errorf("proposed is a payment to %q, want %q", p.Destination, cold)
	}
}

// One person halts; two end that, and only what an operator halted.
func TestTwoPersonsEndAHalt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		account := store.HaltAccount(c.shop)
		c.Do(func(tx *store.Tx) error {
			return errors.Join(
				tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator, Reason: "x", Actor: "ann"}),
				tx.Halts().Put(ctx, store.Halt{Scope: account, Kind: store.HaltByOperator, Reason: "x", Actor: "ann"}),
				tx.Halts().Put(ctx, store.Halt{Scope: account, Kind: store.HaltByReversal, Reason: "y", Ref: "r"}))
		})
		c.agree(c.propose(store.Proposal{Verb: "resume.all"}), store.ProposalExecuted)
		c.Do(func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: account, Kind: store.HaltByOperator, Reason: "z", Actor: "bob"})
		})
		unfreeze := store.Proposal{Verb: "account.unfreeze", Object: c.shop.String()}
		c.agree(c.propose(unfreeze), store.ProposalExecuted)
		c.agree(c.propose(unfreeze), store.ProposalVoid)
		c.View(func(tx *store.Tx) error {
			left, err := tx.Halts().List(ctx)
			if len(left) != 1 || left[0].Kind != store.HaltByReversal {
				t.Errorf("left are %v, want the reversal alone", left)
			}
			return err
		})
	})
}

// What was halted after the proposal stays halted: two persons end what stood when one of them proposed that.
func TestALaterHaltOutlivesTheProposal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		for verb, scope := range map[string]store.HaltScope{"resume.all": store.HaltAll,
			"account.unfreeze": store.HaltAccount(c.shop)} {
			halt := store.Halt{Scope: scope, Kind: store.HaltByOperator, Reason: "a leak", Actor: "ann"}
			c.Do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, halt) })
			p := c.propose(store.Proposal{Verb: verb, Object: c.shop.String()})
			if !strings.Contains(p.Detail, "ann") || !strings.Contains(p.Detail, "a leak") {
				t.Errorf("%s: proposed is to end %q, want who halted and why", verb, p.Detail)
			}
			c.Do(func(tx *store.Tx) error {
				_, err := tx.Halts().Lift(ctx, scope, store.HaltByOperator, "")
				return err
			})
			halt.Reason = "another leak"
			c.Do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, halt) })
			c.agree(p, store.ProposalVoid)
			c.View(func(tx *store.Tx) error {
				left, err := tx.Halts().Of(ctx, scope)
				if len(left) != 1 {
					t.Errorf("%s: left are %v, want the later halt", verb, left)
				}
				return err
			})
		}
	})
}

// Who halts again for the same reason means now: what was proposed before does not end that.
func TestTheSameHaltAgainOutlivesTheProposal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		clock := clocktest.New()
		c := newApprovers(t, db.As(clock.Now, store.Hooks{}))
		for verb, scope := range map[string]store.HaltScope{"resume.all": store.HaltAll,
			"account.unfreeze": store.HaltAccount(c.shop), "resume": store.HaltCurrency("COIN")} {
			halt := store.Halt{Scope: scope, Kind: store.HaltByOperator, Reason: "a leak", Actor: "ann"}
			c.Do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, halt) })
			object := c.shop.String()
			if verb == "resume" {
				object = string(scope)
			}
			p := c.propose(store.Proposal{Verb: verb, Object: object})
			clock.Advance(time.Minute)
			c.Do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, halt) })
			c.agree(p, store.ProposalVoid)
			c.View(func(tx *store.Tx) error {
				left, err := tx.Halts().Of(ctx, scope)
				if len(left) != 1 || !left[0].At.Equal(clock.Now()) {
					t.Errorf("%s: left are %v, want one halt of %s", verb, left, clock.Now())
				}
				return err
			})
		}
	})
}

// A halt that is put between the proposal and its approval outlives it: its reason is another one, which nobody ended.
func TestAnotherPersonsHaltOutlivesTheProposal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		for verb, scope := range map[string]store.HaltScope{"resume.all": store.HaltAll,
			"account.unfreeze": store.HaltAccount(c.shop), "resume": store.HaltCurrency("COIN")} {
			put := func(who, why string) {
				c.Do(func(tx *store.Tx) error {
					return tx.Halts().Put(ctx, store.Halt{Scope: scope, Kind: store.HaltByOperator, Reason: why, Actor: who})
				})
			}
			put("ann", "a leak")
			object := c.shop.String()
			if verb == "resume" {
				object = string(scope)
			}
			p := c.propose(store.Proposal{Verb: verb, Object: object})
			put("bob", "a theft")
			c.agree(p, store.ProposalExecuted)
			c.View(func(tx *store.Tx) error {
				left, err := tx.Halts().Of(ctx, scope)
				if len(left) != 1 || left[0].Actor != "bob" || left[0].Reason != "a theft" {
					t.Errorf("%s: left are %v, want what Bob halted", verb, left)
				}
				return err
			})
		}
	})
}

// An ID is one object in whichever spelling it comes: it is proposed once.
func TestAnObjectIsProposedInOneSpelling(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	w := c.withdraw()
	for verb, id := range map[string]string{"withdrawal.approve": w.ID.String(), "account.unfreeze": c.shop.String()} {
		if p := c.propose(store.Proposal{Verb: verb, Object: strings.ToUpper(id)}); p.Object != id {
			t.Errorf("%s: the object is %q, want %q", verb, p.Object, id)
		}
		again := store.Proposal{Verb: verb, Object: id, Reason: "again", Token: c.IDs.Next()}
		if _, err := c.service.Proposals.Propose(ctx, c.ann, again); !errors.Is(err, store.ErrOpen) {
			t.Errorf("%s: the same again: got %v, want %v", verb, err, store.ErrOpen)
		}
	}
}

// A refund is proposed in the currency of its deposit: an amount in the decimals of another one is another amount.
func TestARefundIsInTheCurrencyOfItsDeposit(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	d := bursar.Deposit{ID: c.IDs.Next(), Purpose: bursar.ForAccount, AccountID: c.shop, Currency: "COIN",
		Chain: bursar.Bitcoin, TxID: "a", Amount: bursar.Units(5000), SeenAt: c.DB.Now()}
	c.Do(func(tx *store.Tx) error {
		_, err := tx.Deposits().RecordAll(ctx, []store.NewDeposit{{Deposit: d}})
		return err
	})
	p := store.Proposal{Verb: "charge.refund", Object: d.ID.String(), Detail: c.IDs.Next().String(), Currency: "OTHER",
		Amount: bursar.Units(1), Destination: c.node.Named("payer"), Reason: "r", Token: c.IDs.Next()}
	var refused *bursar.Error
	if _, err := c.service.Proposals.Propose(ctx, c.ann, p); !errors.As(err, &refused) || refused.Field != "currency" {
		t.Errorf("in another currency: got %v, want its currency refused", err)
	}
	p.Currency = "COIN"
	if _, err := c.service.Proposals.Propose(ctx, c.ann, p); !errors.Is(err, bursar.ErrNotFound) {
		t.Errorf("in its own: got %v, want that the charge is not there", err)
	}
}

// What is no proposal of a verb is refused before anything is recorded.
func TestWhatCannotBeProposed(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	nobody := bursar.ID{0: 77}.String()
	for _, p := range []store.Proposal{
		{Verb: "withdrawal.approve", Object: "x"},
		{Verb: "withdrawal.approve", Object: nobody},
		{Verb: "charge.refund", Object: nobody, Detail: nobody, Destination: "x"},
		{Verb: "unattributed.assign", Object: nobody, Destination: "nobody"},
		{Verb: "unattributed.assign", Object: nobody, Destination: "wallet " + nobody},
		{Verb: "unattributed.refund", Object: nobody},
		{Verb: "unattributed.keep", Object: "x"},
		{Verb: "treasury.withdraw", Currency: "COIN", Amount: bursar.Units(1)},
		{Verb: "treasury.withdraw", Currency: "NONE", Amount: bursar.Units(1), Destination: "x"},
		{Verb: "account.unfreeze", Object: "x"},
		{Verb: "resume", Object: "all"},
		{Verb: "resume", Object: "account:" + nobody},
		{Verb: "resume", Object: "chain:bitcoin"}, // nothing is halted
	} {
		p.Reason, p.Token = "r", c.IDs.Next()
		var refused *bursar.Error
		if got, err := c.service.Proposals.Propose(ctx, c.ann, p); !errors.As(err, &refused) && !errors.Is(err,
			bursar.ErrNotFound) {
			t.Errorf("%+v: got %v, %v, want it refused", p, got.Status, err)
		}
	}
}

package signer

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/orders"
	"github.com/bursar/bursar/signer/people"
)

// RequireOrders makes the signer pay nothing that neither a client signed nor persons approved, whichever account it is
// said to be for. It is called before the first signature.
func (s *Signer) RequireOrders() { s.evaluator.ordersRequired = true }

// agreement is what clients ordered and persons allowed of a transaction.
type agreement struct {
	orders orders.Answer
	grants people.Grants
}

// agreed asks whether clients ordered a transaction and the policy allows it.
func (e *evaluator) agreed(
	ctx context.Context, tx memory.Tx, c *check, flow int64, state memory.State, now time.Time,
) (a agreement, err error) {
	id := c.bounds.Capabilities.ID
	a.orders, err = orders.Evaluate(ctx, tx, orders.Question{Chain: id, Request: c.request, Orders: c.unsigned.Orders,
		Fee: c.contents.Fee, Uses: c.contents.Reservations, State: state, Now: now, Required: e.ordersRequired})
	var refused *orders.Refusal
	if errors.As(err, &refused) {
		err = c.refuse(Reason(refused.Rule), "%s", refused.Detail)
	}
	if err != nil {
		return a, err
	}
	q := people.Question{Chain: id, Request: c.request, Orders: c.unsigned.Orders,
		Fee: c.contents.Fee, Flow: flow, State: state, Now: now, Required: e.policyRequired, Ordered: a.accounts(),
		Spelling: c.bounds.Signable, FeePercent: c.bounds.MaxFeePercent, SmallFee: c.smallFee()}
	if c.movesUnderOrder() {
		a.grants, err = people.Moved(ctx, tx, q, *c.order)
		return a, err
	}
	a.grants, err = people.Evaluate(ctx, tx, q)
	if err = a.onlyLate(c, err); err != nil || !e.ordersRequired {
		return a, err
	}
	return a, a.covered(ctx, tx, c, flow)
}

// accounts returns whose the orders are that clients signed, by the hashes of their texts.
func (a agreement) accounts() map[memory.Digest]bursar.ID {
	of := map[memory.Digest]bursar.ID{}
	for _, s := range a.orders.Signed {
		of[s.Text] = s.Account
	}
	return of
}

// onlyLate turns the refusal of an order that is late, upon which the service refunds the customer, into that of an
// order which was signed before, where one was: its transaction may be included.
func (a agreement) onlyLate(c *check, err error) error {
	var late *people.Refusal
	if !errors.As(err, &late) || late.Rule != people.RuleOrderFresh ||
		!slices.ContainsFunc(a.orders.Signed, func(s orders.Signed) bool { return s.Again }) {
		return err
	}
	return c.refuse(ReasonOrderOnce, "an order was signed before, in a transaction that may be included, and now: %s",
		late.Detail)
}

// covered refuses a payment that neither a client signed nor persons approved.
//
// The attack: anyone who controls the service orders a payment for an account that has no key. All accounts are paid
// from the same addresses.
func (a agreement) covered(ctx context.Context, tx memory.Tx, c *check, flow int64) error {
	for _, order := range a.orders.Unsigned {
		if slices.ContainsFunc(a.grants.List, func(g people.Granted) bool { return g.Order == order && len(g.By) > 0 }) {
			continue
		}
		flows, err := tx.Granted(ctx, order)
		if err != nil {
			return err
		}
		if flow == 0 || !slices.Contains(flows, flow) { // a replacement of what persons approved
			return c.refuse(ReasonOrderSigned, "no client signed the order and no person approved it, and the configuration "+
				"requires one of the two (signer.orders)")
		}
	}
	return nil
}

// write remembers what was agreed, in the transaction that remembers the signature.
func (a agreement) write(ctx context.Context, tx memory.Tx, flow int64, now time.Time) error {
	if err := a.orders.Write(ctx, tx, flow); err != nil {
		return err
	}
	return a.grants.Write(ctx, tx, flow, now)
}

func signedOrders(a orders.Answer) (list []ClientOrder) {
	for _, s := range a.Signed {
		list = append(list, ClientOrder{s.Account, s.ID, hex.EncodeToString(s.Text[:]), s.Key})
	}
	return list
}

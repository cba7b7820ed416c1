package signer

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// lacking returns the refusal of a transaction that the policy does not allow, after it noted that a hold begins.
func (j *judge) lacking(ctx context.Context, c *check, r *people.Refusal) error {
	if len(r.Holds) > 0 {
		var state memory.State
		err := j.keeper.Do(ctx, func(tx memory.Tx) (err error) {
			state, err = tx.State(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("note the hold of outgoing transaction %s: %w", c.request.ID, err)
		}
		now, err := c.timeOf(state)
		if err != nil {
			return err
		}
		if err := r.Begin(ctx, j.keeper, now); err != nil {
			return fmt.Errorf("note the hold of outgoing transaction %s: %w", c.request.ID, err)
		}
	}
	return c.refuse(Reason(r.Rule), "%s", r.Detail)
}

// allowed returns what the log says of the orders of a transaction.
func allowed(g people.Grants) (list []allowedOrder) {
	for _, one := range g.List {
		list = append(list, allowedOrder{one.ID, hex.EncodeToString(one.Order[:]), g.Policy, one.Rule, one.By})
	}
	return list
}

// RequirePolicy makes the signer sign nothing while no policy that people signed is installed, as after its state was
// lost. It is called before the first signature.
func (s *Signer) RequirePolicy() { s.judge.policyRequired = true }

// PolicyText is the policy that people signed, with the signer's state that it and their approvals are for.
type PolicyText struct {
	Instance string `json:"instance"`
	Text     string `json:"text,omitempty"` // empty: none is installed

	// Orders says that the signer demands the order of each payment: an account has keys, or orders are required.
	Orders bool `json:"orders,omitempty"`
}

// Policy returns the policy in force. Where the only one has not begun, it returns that.
func (s *Signer) Policy(ctx context.Context) (p PolicyText, err error) {
	err = s.judge.keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		p.Instance = state.Instance
		if p.Orders, err = tx.AnyOrderKey(ctx); err != nil {
			return err
		}
		p.Orders = p.Orders || s.judge.ordersRequired
		now := state.HighWater
		for _, d := range s.policies {
			if at := d.Now(); at.After(now) {
				now = at
			}
		}
		list, err := tx.Policies(ctx)
		for _, one := range list {
			if p.Text = one.Text; !now.Before(one.NotBefore) {
				break
			}
		}
		return err
	})
	return p, err
}

package signer

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// lacking returns the refusal of a transaction that the policy does not allow, after it noted that a hold begins.
func (e *evaluator) lacking(ctx context.Context, c *check, r *people.Refusal) error {
	var state memory.State
	if r.Remembered() || Reason(r.Rule) == ReasonWindow {
		err := e.keeper.Do(ctx, func(tx memory.Tx) (err error) {
			state, err = tx.State(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("say why outgoing transaction %s is not allowed: %w", c.request.ID, err)
		}
	}
	if r.Remembered() {
		now, err := c.timeOf(state)
		if err != nil {
			return err
		}
		if err := r.Begin(ctx, e.keeper, now); err != nil {
			return fmt.Errorf("note the hold of outgoing transaction %s: %w", c.request.ID, err)
		}
	}
	if Reason(r.Rule) == ReasonWindow && c.bounds.Now().Before(state.ColdSince.Add(roster.LongestWindow)) {
		return c.refuse(ReasonWindow, "%s; what was signed before %s is not known, so each window counts as used up until "+
			"its length has passed since then", r.Detail, memory.Minute(state.ColdSince))
	}
	return c.refuse(Reason(r.Rule), "%s", r.Detail)
}

// allowed returns what the log says of the orders of a transaction.
func allowed(g people.Grants) (list []AllowedOrder) {
	for _, one := range g.List {
		list = append(list, AllowedOrder{one.ID, hex.EncodeToString(one.Order[:]), g.Policy, one.Rule, one.By})
	}
	return list
}

// RequirePolicy makes the signer sign nothing while no policy that people signed is installed, as after its state was
// lost. It is called before the first signature.
func (s *Signer) RequirePolicy() { s.evaluator.policyRequired = true }

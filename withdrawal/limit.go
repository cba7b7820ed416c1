package withdrawal

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// evaluate refuses a withdrawal that is larger than operators' limits allow, and says whether it waits for an approval.
// It evaluates what is read in the transaction that records the withdrawal, so that a limit binds from its commit on.
func evaluate(p *prepared, rules bursar.LimitRules) error {
	w := &p.withdrawal
	if most := rules.For(w.AccountID, p.currency).WithdrawalMaximum; !most.IsZero() && most.Less(w.Amount) {
		return errAbove(p.currency, most)
	}
	w.Status = bursar.WithdrawalQueued
	if rules.Waits(w.AccountID, p.currency, w.Amount) {
		w.Status = bursar.WithdrawalPendingApproval
	}
	return nil
}

func errAbove(c bursar.Currency, most bursar.Amount) error {
	return bursar.RefuseField(bursar.CodeAboveMaximum, "amount", "the largest withdrawal of %s is %s", c.Code,
		c.Exact(most))
}

// Limits changes operators' limits of withdrawals. It is safe for concurrent use.
type Limits struct {
	DB       *store.DB
	Registry *bursar.Registry
	Log      *slog.Logger // nil: nothing is logged
}

// LimitChange sets or removes a limit of withdrawals.
type LimitChange struct {
	Rule   bursar.LimitRule // its amount is not read where it is removed
	Remove bool
	Loosen bool // the change may let larger withdrawals through than before; otherwise such a change is refused

	// Done runs in the transaction of the change, last, with the limits before and after it; nil: nothing does.
	Done func(ctx context.Context, tx *store.Tx, was, is string) error
}

// Change sets or removes limits, all or none, for withdrawals that are requested from its commit on. Errors:
// invalid_request where one would loosen a limit and must not, and where it changes nothing; invalid_amount for one
// of zero that refuses; unsupported_currency; not_found for an unknown account.
func (s *Limits) Change(ctx context.Context, changes ...LimitChange) error {
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if err := tx.LimitRules().Turn(ctx); err != nil {
			return err
		}
		for _, c := range changes {
			if err := s.change(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || s.Log == nil {
		return err
	}
	for _, c := range changes {
		r := c.Rule
		s.Log.InfoContext(ctx, "limit changed", "account", r.AccountID, "currency", r.Currency, "kind", r.Kind, "removed",
			c.Remove, "amount", s.Registry.Text(r.Currency, r.Amount), "by", r.Actor)
	}
	return nil
}

func (s *Limits) change(ctx context.Context, tx *store.Tx, c LimitChange) error {
	was, is, loosens, err := s.preview(ctx, tx, c)
	switch {
	case err != nil:
		return err
	case loosens && !c.Loosen:
		return bursar.RefuseField(bursar.CodeInvalidRequest, "amount",
			"this lets larger withdrawals through: the limit is %s; propose it, so that others approve it", was)
	case c.Remove:
		err = tx.LimitRules().Remove(ctx, c.Rule)
	default:
		err = tx.LimitRules().Set(ctx, c.Rule)
	}
	if err != nil || c.Done == nil {
		return err
	}
	return c.Done(ctx, tx, was, is)
}

// Preview returns what a change of a limit would make of it, in words: what is limited before and after, and
// whether it lets larger withdrawals through. Errors are those of Change.
func (s *Limits) Preview(ctx context.Context, c LimitChange) (was, is string, loosens bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		was, is, loosens, err = s.preview(ctx, tx, c)
		return err
	})
	return was, is, loosens, err
}

func (s *Limits) preview(ctx context.Context, tx *store.Tx, c LimitChange) (was, is string, loosens bool, err error) {
	r := c.Rule
	currency, err := s.Registry.Get(r.Currency)
	if err != nil {
		return was, is, false, err
	}
	if !c.Remove && r.Kind.Refuses() && r.Amount.IsZero() {
		return was, is, false, bursar.RefuseField(bursar.CodeInvalidAmount, "amount",
			"a limit of zero stops all withdrawals: halt the currency, or freeze the account")
	}
	if !r.AccountID.IsZero() {
		if _, err := tx.Accounts().Get(ctx, r.AccountID); err != nil {
			return was, is, false, store.AsRefusal(err)
		}
	}
	rules, err := tx.LimitRules().Of(ctx, r.AccountID)
	if err != nil {
		return was, is, false, err
	}
	after := rules.With(r)
	if c.Remove {
		after = rules.Without(r)
	}
	was, is = limited(rules, r, currency), limited(after, r, currency)
	if was == is {
		return was, is, false, bursar.Refuse(bursar.CodeInvalidRequest, "the limit is %s already", was)
	}
	return was, is, rules.Loosen(after, r), nil
}

// limited describes an operators' limit: "0.50000000 BTC, of the account", or "not set". Where the limit for every
// account is lower than the account's own one and therefore counts, it describes both.
func limited(rules bursar.LimitRules, of bursar.LimitRule, c bursar.Currency) string {
	rule, found := rules.Find(of.AccountID, of.Currency, of.Kind)
	if !found {
		return "not set"
	}
	text := c.Text(rule.Amount) + ", of the account"
	if !rule.AccountID.IsZero() {
		return text
	}
	text = c.Text(rule.Amount) + ", of every account"
	if own, is := rules.Set(of); is && !of.AccountID.IsZero() {
		text += ", below " + c.Text(own.Amount) + " of the account"
	}
	return text
}

package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// everyAccount is the object of a limit that every account has.
const everyAccount = "all"

// limitOf returns the change of a limit that a proposal is about: its detail begins with the kind, and no amount
// removes it.
func limitOf(p store.Proposal) (withdrawal.LimitChange, error) {
	kind, _, _ := strings.Cut(p.Detail, " ")
	c := withdrawal.LimitChange{Remove: p.Amount.IsZero(), Loosen: true, Rule: bursar.LimitRule{AccountID: p.AccountID,
		Currency: p.Currency, Kind: bursar.LimitKind(kind), Amount: p.Amount, Actor: p.Person, Reason: p.Reason}}
	for _, known := range bursar.LimitKinds() {
		if c.Rule.Kind == known {
			return c, nil
		}
	}
	return c, bursar.RefuseField(bursar.CodeInvalidRequest, "detail", "the limit is one of %v", bursar.LimitKinds())
}

// checkLimit completes a proposal that lets larger withdrawals through. What approvers sign says what the limit is now,
// and what it becomes.
func (s *Service) checkLimit(ctx context.Context, p store.Proposal) (_ store.Proposal, err error) {
	of, _, _ := strings.Cut(p.Object, ":") // the object that is written back is sent again for the same proposal
	if p.Object = of; of != everyAccount {
		if p.AccountID, err = objectOf(p); err != nil {
			return p, err
		}
		of = p.AccountID.String()
	}
	c, err := limitOf(p)
	if err != nil {
		return p, err
	}
	was, is, loosens, err := s.Limits.Preview(ctx, c)
	if err != nil {
		return p, err
	}
	if !loosens {
		return p, bursar.RefuseField(bursar.CodeInvalidRequest, "amount",
			"this lets no larger withdrawals through: one person does it at once, by limits.tighten")
	}
	p.Object = fmt.Sprintf("%s:%s:%s", of, p.Currency, c.Rule.Kind)
	p.Detail = limitDetail(c, was, is)
	return p, nil
}

func limitDetail(c withdrawal.LimitChange, was, is string) string {
	return fmt.Sprintf("%s: was %s; becomes %s", c.Rule.Kind, was, is)
}

// doLimit changes the limit, unless it is another one than when that was proposed: what somebody tightened since stays.
func (s *Service) doLimit(ctx context.Context, p store.Proposal, done proposal.Done) error {
	kind, _, _ := strings.Cut(p.Detail, ":")
	named := p
	named.Detail = kind
	c, err := limitOf(named)
	if err != nil {
		return err
	}
	c.Done = func(ctx context.Context, tx *store.Tx, was, is string) error {
		if now := limitDetail(c, was, is); now != p.Detail {
			return fmt.Errorf("%w: the limit was changed since: %s", proposal.ErrVoid, now)
		}
		return done(ctx, tx, "limit "+is)
	}
	return s.Limits.Change(ctx, c)
}

// weightOf is what a proposed limit lets through: where it is removed, what the configuration does, and more than
// anything where that has none, as for those of a period, since an account may withdraw again and again.
func (s *Service) weightOf(p store.Proposal) bursar.Amount {
	if !p.Amount.IsZero() {
		return p.Amount
	}
	most := bursar.LargestAmount()
	c, err := s.Registry.Get(p.Currency)
	if err != nil {
		return most
	}
	bound := bursar.Amount{}
	switch kind, _, _ := strings.Cut(p.Detail, ":"); bursar.LimitKind(kind) {
	case bursar.LimitMaximum:
		bound = c.WithdrawalMaximum
	case bursar.LimitApproval:
		bound = c.ApprovalAbove
	}
	if bound.IsZero() {
		return most
	}
	return bound
}

package service

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

func (s *Service) checkResume(ctx context.Context, p store.Proposal) (_ store.Proposal, err error) {
	p.Object = "all"
	p.Detail, err = s.halted(ctx, p)
	return p, err
}

// checkUnfreeze completes the end of an operator's freeze. A freeze that a reorganisation caused lifts itself.
func (s *Service) checkUnfreeze(ctx context.Context, p store.Proposal) (_ store.Proposal, err error) {
	if p.AccountID, err = objectOf(p); err != nil {
		return p, err
	}
	p.Object = p.AccountID.String()
	p.Detail, err = s.halted(ctx, p)
	return p, err
}

// scopeOf returns whose halt a proposal ends: that of everything, or of an account.
func scopeOf(p store.Proposal) store.HaltScope {
	if p.Verb == proposeUnfreeze {
		return store.HaltAccount(p.AccountID)
	}
	return store.HaltAll
}

// halted describes the operator's halt that a proposal ends: that one alone is what others approve. Empty: there is
// none.
func (s *Service) halted(ctx context.Context, p store.Proposal) (text string, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		h, err := operatorHalt(ctx, tx, scopeOf(p))
		text = described(h)
		return err
	})
	return text, err
}

// operatorHalt returns the halt of a scope that an operator put, of which there is one at most; zero for none.
func operatorHalt(ctx context.Context, tx *store.Tx, scope store.HaltScope) (store.Halt, error) {
	list, err := tx.Halts().Of(ctx, scope)
	for _, h := range list {
		if h.Kind == store.HaltByOperator {
			return h, nil
		}
	}
	return store.Halt{}, err
}

func described(h store.Halt) string {
	if h.At.IsZero() {
		return ""
	}
	return fmt.Sprintf("halt of %s by %s: %s", h.At.UTC().Format(time.RFC3339Nano), h.Actor, h.Reason)
}

// doEndHalts ends what an operator halted before that was proposed: everything, or an account.
func (s *Service) doEndHalts(ctx context.Context, p store.Proposal, done proposal.Done) error {
	scope := scopeOf(p)
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		h, err := operatorHalt(ctx, tx, scope)
		if err != nil {
			return err
		}
		if described(h) != p.Detail {
			return fmt.Errorf("%w: the halt of %s is not the one that was there when this was proposed", proposal.ErrVoid, scope)
		}
		n, err := tx.Halts().End(ctx, store.Halt{
			Scope:  scope,
			Kind:   store.HaltByOperator,
			Reason: p.Reason,
			Actor:  p.Person,
			At:     h.At,
		})
		if err != nil {
			return store.AsRefusal(err)
		}
		if n == 0 {
			return fmt.Errorf("%w: no operator's halt of %s is left", proposal.ErrVoid, scope)
		}
		return done(ctx, tx, "ended")
	})
}

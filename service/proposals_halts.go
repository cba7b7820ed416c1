package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
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

// checkPart completes the end of operators' halts of one chain or one currency. Halts that an external spend or a token
// that delivered less caused need more than an approval: commands end those.
func (s *Service) checkPart(ctx context.Context, p store.Proposal) (_ store.Proposal, err error) {
	kind, name, _ := strings.Cut(p.Object, ":")
	if kind != "chain" && kind != "currency" || name == "" {
		return p, bursar.RefuseField(bursar.CodeInvalidRequest, "object", "the scope is chain:NAME or currency:CODE")
	}
	if p.Detail, err = s.halted(ctx, p); err == nil && p.Detail == "" {
		err = bursar.RefuseField(bursar.CodeInvalidRequest, "object",
			"no operator halted %.60s; `bursar halt status` lists what is halted and what ends it", p.Object)
	}
	return p, err
}

// scopeOf returns whose halts a proposal ends: those of everything, of a chain, of a currency, or of an account.
func scopeOf(p store.Proposal) store.HaltScope {
	switch p.Verb {
	case proposeUnfreeze:
		return store.HaltAccount(p.AccountID)
	case proposePart:
		return store.HaltScope(p.Object)
	}
	return store.HaltAll
}

// mostHalts bounds how many halts one proposal ends; the others are proposed again.
const mostHalts = 10

// halted describes the operators' halts that a proposal ends: those alone are what others approve. Empty: there is
// none.
func (s *Service) halted(ctx context.Context, p store.Proposal) (text string, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list, err := operatorHalts(ctx, tx, scopeOf(p))
		lines := make([]string, min(len(list), mostHalts))
		for i := range lines {
			lines[i] = described(list[i])
		}
		text = strings.Join(lines, "\n")
		return err
	})
	return text, err
}

// operatorHalts returns the halts of a scope that operators put, oldest first: each person's for each reason.
func operatorHalts(ctx context.Context, tx *store.Tx, scope store.HaltScope) ([]store.Halt, error) {
	list, err := tx.Halts().Of(ctx, scope)
	return slices.DeleteFunc(list, func(h store.Halt) bool { return h.Kind != store.HaltByOperator }), err
}

// described is a halt on one line: with its time and its ref it is no other one.
func described(h store.Halt) string {
	return fmt.Sprintf("halt %s of %s by %q: %q", h.Ref, h.At.UTC().Format(time.RFC3339Nano), h.Actor, h.Reason)
}

// doEndHalts ends what operators had halted when that was proposed: everything, or an account. What was halted since
// stays halted.
func (s *Service) doEndHalts(ctx context.Context, p store.Proposal, done proposal.Done) error {
	scope, named := scopeOf(p), strings.Split(p.Detail, "\n")
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if err := lockFrozen(ctx, tx, scope); err != nil {
			return err
		}
		halts, err := operatorHalts(ctx, tx, scope)
		if err != nil {
			return err
		}
		ended := 0
		for _, h := range halts {
			if !slices.Contains(named, described(h)) {
				continue
			}
			n, err := tx.Halts().End(ctx, store.Halt{
				Number: h.Number,
				At:     h.At,
				Scope:  scope,
				Kind:   store.HaltByOperator,
				Ref:    h.Ref,
				Reason: p.Reason,
				Actor:  p.Person,
			})
			if err != nil {
				return err
			}
			ended += int(n)
		}
		if ended == 0 {
			return fmt.Errorf("%w: no halt of %s is left that was there when this was proposed", proposal.ErrVoid, scope)
		}
		return done(ctx, tx, outcomeOf(ended, len(halts)-ended))
	})
}

// lockFrozen keeps the account of a scope that is one's as it is, before its halts are read.
func lockFrozen(ctx context.Context, tx *store.Tx, scope store.HaltScope) error {
	id, is := scope.Account()
	if !is {
		return nil
	}
	_, err := tx.Accounts().Lock(ctx, id)
	return store.AsRefusal(err)
}

func outcomeOf(ended, left int) string {
	if left > 0 {
		return fmt.Sprintf("ended %d; still halted by %d put since", ended, left)
	}
	return fmt.Sprintf("ended %d", ended)
}

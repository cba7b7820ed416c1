package proposal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// pause is the time between two rounds that carry out what could not be carried out before.
const pause = 10 * time.Second

// most bounds how many proposals a round carries out.
const most = 100

// Run carries out approved proposals until ctx ends: those whose process ended in between, and those whose act was not
// possible at that time.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		if err := s.CarryOut(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("failed to carry out approved proposals", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// CarryOut carries out every approved proposal that is not done yet, and ends those that have expired. The error joins
// the errors of all proposals.
func (s *Service) CarryOut(ctx context.Context) error {
	var open []store.Proposal
	late := false
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if open, err = tx.Proposals().List(ctx, store.ProposalApproved, nil, most); err != nil {
			return err
		}
		waiting, err := tx.Proposals().List(ctx, store.ProposalPending, nil, most)
		late = slices.ContainsFunc(waiting, func(p store.Proposal) bool { return !tx.Now().Before(p.ExpiresAt) })
		return err
	})
	for _, p := range open {
		if _, failed := s.carryOut(ctx, p.ID); failed != nil {
			err = errors.Join(err, fmt.Errorf("proposal %s: %w", p.ID, failed))
		}
	}
	if late {
		err = errors.Join(err, s.DB.Do(ctx, func(tx *store.Tx) error { return tx.Proposals().Expire(ctx) }))
	}
	return err
}

// carryOut carries out an approved proposal, or ends it where that is not possible any more. It returns the proposal as
// it is then.
func (s *Service) carryOut(ctx context.Context, id bursar.ID) (store.Proposal, error) {
	p, err := s.Get(ctx, id)
	if err != nil || p.Status != store.ProposalApproved {
		return p, err
	}
	if !s.DB.Now().Before(p.ExpiresAt) { // whatever its act waits for: the same may be proposed again
		if err := s.void(ctx, id, fmt.Sprintf("%v: the proposal expired at %s", ErrVoid, moment(p.ExpiresAt))); err != nil {
			return p, err
		}
		return s.Get(ctx, id)
	}
	kind, known := s.Kinds[p.Verb]
	if !known {
		return p, fmt.Errorf("%w: %.40q", ErrUnknownVerb, p.Verb)
	}
	if kind.Execute == nil { // a process that serves carries it out
		return p, nil
	}
	err = kind.Execute(ctx, p, func(ctx context.Context, tx *store.Tx, outcome string) error {
		return s.execute(ctx, tx, id, outcome)
	})
	var refused *bursar.Error
	if errors.Is(err, ErrVoid) || errors.As(err, &refused) && refused.Code != bursar.CodeUnavailable {
		err = s.void(ctx, id, err.Error())
	}
	if err != nil && !errors.Is(err, ErrEnded) {
		return p, err
	}
	return s.Get(ctx, id)
}

// execute marks a proposal as carried out, in the transaction that does so. Whatever happened since it was approved is
// seen here: that another process carried it out, that it was rejected, that its time is over, that its row was
// altered, that somebody lost a right.
func (s *Service) execute(ctx context.Context, tx *store.Tx, id bursar.ID, outcome string) error {
	p, err := tx.Proposals().Lock(ctx, id)
	if err != nil {
		return err
	}
	if p.Status != store.ProposalApproved {
		return s.ended(p)
	}
	if hash := Hash(p); !bytes.Equal(hash[:], p.Hash) {
		return fmt.Errorf("%w: its content was altered after it was proposed", ErrVoid)
	}
	if !tx.Now().Before(p.ExpiresAt) {
		return fmt.Errorf("%w: the proposal expired at %s", ErrVoid, moment(p.ExpiresAt))
	}
	if err := s.stillApproved(ctx, tx, p); err != nil {
		return err
	}
	return s.end(ctx, tx, Person{}, &p, store.ProposalExecuted, outcome)
}

// stillApproved checks who proposed and approved as if they did so now.
func (s *Service) stillApproved(ctx context.Context, tx *store.Tx, p store.Proposal) error {
	if err := s.May(ctx, tx, p.PersonID, s.Kinds[p.Verb].Propose, p.AccountID); err != nil {
		return lost(err, "who proposed it, "+p.Person)
	}
	decisions, err := tx.Proposals().Decisions(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, v := range decisions {
		err := s.mayApprove(ctx, tx, v.PersonID, p)
		if err == nil && s.Verify != nil {
			err = s.Verify(ctx, tx, v.PersonID, p, v.Evidence)
		}
		if err != nil {
			return lost(err, "who approved it, "+v.Person)
		}
	}
	if len(decisions) < p.Need {
		return fmt.Errorf("%w: %d approvals count, want %d", ErrVoid, len(decisions), p.Need)
	}
	return nil
}

// lost maps a revoked right to ErrVoid and returns other errors unchanged, so that a database error does not end the
// proposal.
func lost(err error, who string) error {
	if _, denied := errors.AsType[*Denied](err); denied || errors.Is(err, ErrOwn) || errors.Is(err, ErrEvidence) {
		return fmt.Errorf("%w: %s, does not count any more: %w", ErrVoid, who, err)
	}
	return err
}

// void ends a proposal that cannot be carried out any more; one that has ended stays as it is.
func (s *Service) void(ctx context.Context, id bursar.ID, why string) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		p, err := tx.Proposals().Lock(ctx, id)
		if err != nil || p.Status.Ended() {
			return err
		}
		return s.end(ctx, tx, Person{}, &p, store.ProposalVoid, why)
	})
}

// Get returns a proposal, or bursar.ErrNotFound.
func (s *Service) Get(ctx context.Context, id bursar.ID) (p store.Proposal, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err = tx.Proposals().Get(ctx, id)
		return store.AsRefusal(err)
	})
	return p, err
}

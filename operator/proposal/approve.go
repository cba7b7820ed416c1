package proposal

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Approval is what an approver sends back.
type Approval struct {
	Proposal bursar.ID
	Hash     []byte // of the text that the approver was shown
	Evidence string // the assertion of their passkey over it
}

// Approve adds a person's approval, and carries the proposal out once it has enough. It returns the resulting status: a
// proposal that is still approved is carried out as soon as possible. Repeating an approval changes nothing.
func (s *Service) Approve(ctx context.Context, by Person, a Approval) (p store.Proposal, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if p, err = tx.Proposals().Lock(ctx, a.Proposal); err != nil {
			return store.AsRefusal(err)
		}
		if !bytes.Equal(a.Hash, p.Hash) {
			return ErrOther
		}
		if err := s.mayApprove(ctx, tx, by.ID, p); err != nil {
			return err
		}
		decisions, err := tx.Proposals().Decisions(ctx, p.ID)
		if err != nil || approvedBy(decisions, by.ID) {
			return err
		}
		if p.Status != store.ProposalPending || !tx.Now().Before(p.ExpiresAt) {
			return s.ended(p)
		}
		return s.add(ctx, tx, by, &p, a.Evidence, len(decisions)+1)
	})
	if err != nil || p.Status != store.ProposalApproved {
		return p, err
	}
	return s.carryOut(ctx, p.ID)
}

// add records an approval, the count-th. The last one that is needed sets the status approved, so that the proposal is
// carried out even if this process ends now.
func (s *Service) add(
	ctx context.Context, tx *store.Tx, by Person, p *store.Proposal, evidence string, count int,
) error {
	if s.Verify != nil {
		if err := s.Verify(ctx, tx, by.ID, *p, evidence); err != nil {
			return err
		}
	}
	err := tx.Proposals().Decide(ctx, store.ProposalDecision{
		Proposal: p.ID,
		PersonID: by.ID,
		Person:   by.Name,
		Approves: true,
		Evidence: evidence,
	})
	if err != nil {
		return err
	}
	before := *p
	if count >= p.Need {
		p.Status = store.ProposalApproved
		if err := tx.Proposals().SetStatus(ctx, p.ID, p.Status, ""); err != nil {
			return err
		}
	}
	return s.record(ctx, tx, Change{Proposal: before, By: by, Next: p.Status, Evidence: evidence})
}

// Reject ends a proposal that is not carried out yet, even if it has enough approvals. Its proposer may withdraw it
// this way.
func (s *Service) Reject(ctx context.Context, by Person, id bursar.ID, reason string) (p store.Proposal, err error) {
	if reason, err = plain(reason); err != nil {
		return p, err
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if p, err = tx.Proposals().Lock(ctx, id); err != nil {
			return store.AsRefusal(err)
		}
		if by.ID != p.PersonID {
			if err := s.mayApprove(ctx, tx, by.ID, p); err != nil {
				return err
			}
		}
		if p.Status.Ended() {
			return s.ended(p)
		}
		return s.end(ctx, tx, by, &p, store.ProposalRejected, reason)
	})
	return p, err
}

// Stop ends a proposal that is not carried out yet, for a person with access to the host, who need not be known to the
// console: stopping takes one person, because nothing moves by it.
func (s *Service) Stop(ctx context.Context, actor string, id bursar.ID, reason string) (p store.Proposal, err error) {
	if reason, err = plain(reason); err != nil {
		return p, err
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if p, err = tx.Proposals().Lock(ctx, id); err != nil {
			return store.AsRefusal(err)
		}
		if p.Status.Ended() {
			return s.ended(p)
		}
		return s.end(ctx, tx, Person{Name: actor}, &p, store.ProposalRejected, reason)
	})
	return p, err
}

// end ends a locked proposal.
func (s *Service) end(
	ctx context.Context, tx *store.Tx, by Person, p *store.Proposal, next store.ProposalStatus, outcome string,
) error {
	if err := tx.Proposals().SetStatus(ctx, p.ID, next, outcome); err != nil {
		return err
	}
	before := *p
	p.Status, p.Outcome, p.EndedAt = next, outcome, tx.Now()
	return s.record(ctx, tx, Change{Proposal: before, By: by, Next: next, Reason: outcome})
}

func (s *Service) mayApprove(ctx context.Context, tx *store.Tx, person bursar.ID, p store.Proposal) error {
	if s.May == nil {
		return ErrUnknownVerb
	}
	if person == p.PersonID {
		return ErrOwn
	}
	return s.May(ctx, tx, person, s.Kinds[p.Verb].Approve, p.AccountID)
}

func (s *Service) ended(p store.Proposal) error {
	if !p.Status.Ended() {
		return fmt.Errorf("%w: the proposal expired at %s", ErrEnded, moment(p.ExpiresAt))
	}
	return fmt.Errorf("%w: its status is %s: %s", ErrEnded, p.Status, p.Outcome)
}

func (s *Service) record(ctx context.Context, tx *store.Tx, c Change) error {
	tx.After(func() {
		s.Log.InfoContext(ctx, "proposal changed", "proposal", c.Proposal.ID, "verb", c.Proposal.Verb, "status", c.Next,
			"by", c.By.ID)
	})
	if s.Record == nil {
		return nil
	}
	return s.Record(ctx, tx, c)
}

func approvedBy(decisions []store.ProposalDecision, person bursar.ID) bool {
	for _, v := range decisions {
		if v.PersonID == person {
			return true
		}
	}
	return false
}

// plain returns a reason without the space around it.
func plain(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if reason == "" || len(reason) > 1000 || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return reason, ErrReason
	}
	return reason, nil
}

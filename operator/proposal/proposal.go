// Package proposal implements four-eyes approval: an act that moves or releases money is proposed by one person and
// approved by others.
//
// It owns the life of a proposal: who may propose, approve and reject, how many must, and until when. It never carries
// out an act itself: that is the package of its object, which the wiring hands in as a Kind. Its invariants: who
// proposed never approves, and each person counts once; a proposal is carried out once, in the transaction of the act
// itself, which also checks once more that those who approved may still do so; what was approved is what is done, by
// the hash of its text; what is not carried out before its end is never carried out.
package proposal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Day is the window over which proposed amounts are summed.
const Day = 24 * time.Hour

// Life is how long after it was made a proposal may be approved and carried out.
const Life = 24 * time.Hour

// The reasons why a proposal is refused. Nothing has changed then.
var (
	ErrUnknownVerb = errors.New("nobody proposes this")
	ErrOwn         = errors.New("who proposed it cannot approve it")
	ErrEnded       = errors.New("the proposal has ended")
	ErrOther       = errors.New("the proposal is not the one that was shown: read it again")
	ErrReason      = errors.New("a reason of at most 1000 bytes of plain text is required")
	// ErrEvidence is what Verify returns for an assertion that does not count.
	ErrEvidence = errors.New("the passkey's assertion does not count")
	// ErrVoid is what an act returns that is not possible any more: its proposal ends void.
	ErrVoid = errors.New("the proposal cannot be carried out any more")
)

// Denied says that a person lacks the right to a verb, for the account that is concerned.
type Denied struct{ Verb string }

// Error names the verb.
func (d *Denied) Error() string { return "this needs the right to " + d.Verb }

// Person is somebody who proposes, approves or rejects. Two with one ID are one person, whatever they are called and
// however they signed in.
type Person struct {
	ID   bursar.ID
	Name string
}

// Kind is what a verb does.
type Kind struct {
	Propose string // the verb that who proposes needs
	Approve string // the verb that who approves or rejects needs

	// Beside are other verbs whose amounts of a day count with those of this one.
	Beside []string

	// Weight is the amount by which the number of persons is found who must approve, where that is not the sum of a day,
	// such as of a limit that is raised: each proposal says all that it lets through. nil: the sum of a day.
	Weight func(p store.Proposal) bursar.Amount

	// Check completes a proposal before it is recorded, and refuses what could not be carried out now.
	Check func(ctx context.Context, p store.Proposal) (store.Proposal, error)
	// Execute carries a proposal out in one transaction, in which it calls done after its own locks; an error of done
	// undoes all. An ErrVoid or a *bursar.Error says that it can never be carried out, any other that it may be later.
	// nil: this process carries nothing out, and another one does what is approved here.
	Execute func(ctx context.Context, p store.Proposal, done Done) error
}

// Done records what came of a proposal, in the transaction that carries it out.
type Done func(ctx context.Context, tx *store.Tx, outcome string) error

// Change is one step in the life of a proposal, for the log of acts.
type Change struct {
	Proposal store.Proposal // as it was before
	By       Person         // zero: the service itself
	Next     store.ProposalStatus
	Reason   string // or outcome
	Evidence string
}

// Service carries proposals through their life. It is safe for concurrent use.
type Service struct {
	DB    *store.DB
	IDs   *bursar.IDs
	Log   *slog.Logger
	Kinds map[string]Kind

	// May returns nil if a person may do something with an account now, and a *Denied if not; it reads in the given
	// transaction. Where it is nil, nobody proposes, approves or rejects, and nothing is carried out.
	May func(ctx context.Context, tx *store.Tx, person bursar.ID, verb string, account bursar.ID) error
	// Need returns how many persons besides the proposer must approve, at least 1; nil: 1. The amount is that of a day:
	// what is proposed with what was proposed before for the same account, so that a large one is not split.
	Need func(currency bursar.CurrencyCode, amount bursar.Amount) int
	// Verify checks the evidence of an approval, when it is given and again when the proposal is carried out; nil: none is
	// asked for. Its error is ErrEvidence, or one of the database.
	Verify func(ctx context.Context, tx *store.Tx, person bursar.ID, p store.Proposal, evidence string) error
	// Record adds a step to the log of acts, in the transaction of the step; nil: there is no such log.
	Record func(ctx context.Context, tx *store.Tx, c Change) error
}

// Propose records a proposal. The token is that of the form: the same one again returns what it proposed before. What
// is proposed already and open is store.ErrOpen.
func (s *Service) Propose(ctx context.Context, by Person, p store.Proposal) (store.Proposal, error) {
	kind, known := s.Kinds[p.Verb]
	if !known || s.May == nil {
		return p, fmt.Errorf("%w: %.40q", ErrUnknownVerb, p.Verb)
	}
	var err error
	if p.Reason, err = plain(p.Reason); err != nil {
		return p, err
	}
	if before, err := s.before(ctx, by, p.Token); !errors.Is(err, store.ErrNotFound) {
		return before, err
	}
	if p, err = kind.Check(ctx, p); err != nil {
		return p, err
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if err := s.May(ctx, tx, by.ID, kind.Propose, p.AccountID); err != nil {
			return err
		}
		p.ID, p.PersonID, p.Person, p.Status = s.IDs.Next(), by.ID, by.Name, store.ProposalPending
		p.CreatedAt = tx.Now().UTC().Truncate(time.Second)
		p.ExpiresAt = p.CreatedAt.Add(Life)
		if err := tx.Proposals().Expire(ctx); err != nil {
			return err
		}
		if p.Need, err = s.need(ctx, tx, kind, p); err != nil {
			return err
		}
		hash := Hash(p)
		p.Hash = hash[:]
		if err := tx.Proposals().Insert(ctx, p); err != nil {
			return err
		}
		return s.record(ctx, tx, Change{Proposal: p, By: by, Next: store.ProposalPending, Reason: p.Reason})
	})
	if errors.Is(err, store.ErrProposed) || errors.Is(err, store.ErrOpen) {
		if before, err := s.before(ctx, by, p.Token); !errors.Is(err, store.ErrNotFound) {
			return before, err // the same form, submitted twice at once
		}
	}
	return p, err
}

// need returns how many persons must approve a proposal, by what is proposed within a day for its account.
func (s *Service) need(ctx context.Context, tx *store.Tx, kind Kind, p store.Proposal) (int, error) {
	if s.Need == nil || p.Currency == "" {
		return 1, nil
	}
	if kind.Weight != nil {
		return max(1, s.Need(p.Currency, kind.Weight(p))), nil
	}
	verbs := append([]string{p.Verb}, kind.Beside...)
	sum, err := tx.Proposals().Proposed(ctx, verbs, p.AccountID, p.Currency, p.CreatedAt.Add(-Day))
	if err != nil {
		return 0, err
	}
	if sum, err = sum.Add(p.Amount); err != nil {
		return 0, err
	}
	return max(1, s.Need(p.Currency, sum)), nil
}

// before returns what a form of a person has proposed already.
func (s *Service) before(ctx context.Context, by Person, token bursar.ID) (p store.Proposal, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err = tx.Proposals().ByToken(ctx, token)
		return err
	})
	if err == nil && p.PersonID != by.ID {
		err = ErrOther
	}
	return p, err
}

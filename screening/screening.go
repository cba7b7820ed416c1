// Package screening asks a screening service about each deposit before it is credited and about each payout before it
// is signed, and carries out what the service or an operator decides.
//
// It owns the questions and their answers. It changes no status itself: packages deposit and withdrawal do, in the same
// database transaction. Its invariants: nothing proceeds without a valid, unexpired answer for this payment or an
// operator's release; a missing or invalid answer is never a pass; what the service wants reviewed is not asked again;
// the question is recorded before it is asked, and its answer is taken once.
package screening

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// Limits of asking.
const (
	atOnce      = 16               // questions in one step, half of them about deposits
	firstPause  = 2 * time.Second  // before a question without an answer is asked again; it doubles each time
	longPause   = time.Minute      // the longest such pause
	refusedLong = 15 * time.Minute // the longest pause after a pass that did not count: each leaves a row
	askPatience = 10 * time.Second
	soonEnough  = time.Second // until answers are taken while others are not there
	maxError    = 300         // bytes of what is noted about a question without an answer
)

// Asker asks the screening service. Client is one.
type Asker interface {
	Ask(ctx context.Context, request string) (Reply, error)
}

// Acts is what follows a decision, in the database transaction that records it. Packages deposit and withdrawal
// implement it.
type Acts struct {
	// Quarantine takes a pending deposit away from its account. It is booked as unattributed once that is possible.
	Quarantine func(ctx context.Context, tx *store.Tx, d bursar.Deposit, why string) error
	// Refuse rejects a queued withdrawal that no outgoing transaction pays, and refunds it.
	Refuse func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, why string) error
}

// Screener asks about the deposits and the payouts of one chain while its process holds the chain lease.
type Screener struct {
	DB       *store.DB
	Chain    bursar.ChainID
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Service  Asker
	Key      ed25519.PublicKey
	Pace     time.Duration
	Acts     Acts
	Decided  func() // called after commits that let something go on; may be nil
	// Soon says when answers are taken that are there while others are not; nil: after a second. Most answers come
	// together, and are then taken in the sequence of their questions.
	Soon func() <-chan time.Time

	// Final returns which deposits only wait to be credited now.
	Final func(ctx context.Context, tx *store.Tx, limit int) (store.CreditQuery, error)
}

// Run asks until ctx ends or the lease is lost, beside following the chain and paying.
func (s *Screener) Run(ctx context.Context, lease store.Lease) error {
	return store.Work{
		Pace: s.Pace, Patience: askPatience,
		Step: func(ctx context.Context) (bool, error) { return s.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			s.Log.Warn("screening failed; payments and deposits wait", "chain", lease.Chain, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// question is a deposit or a payout that is asked about.
type question struct {
	request verdict.Request
	row     store.Screening
	before  store.Screening // what was known when it was read that this is to be asked; zero: nothing
	reply   Reply
	failed  error
}

// Step asks about what waits, as much as is asked at once, and reports whether more may wait.
func (s *Screener) Step(ctx context.Context, lease store.Lease) (more bool, err error) {
	questions, noted, err := s.due(ctx, lease)
	if err != nil || len(questions) == 0 && noted {
		return false, err
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		if len(questions) == 0 {
			return NoteOpen(ctx, tx, s.Chain)
		}
		return s.record(ctx, tx, &questions)
	})
	if err != nil || len(questions) == 0 {
		return false, err
	}
	return s.askAll(ctx, lease, questions)
}

// record records the questions before they are asked. It drops those about payments that were decided, or recorded in
// another block, since the questions were selected. This transaction has locked the chain, and so do those that decide
// or record.
func (s *Screener) record(ctx context.Context, tx *store.Tx, questions *[]*question) error {
	now, err := tx.Screenings().Of(ctx, subjects(*questions))
	if err != nil {
		return err
	}
	var asked []*question
	var rows []store.Screening
	for _, q := range *questions {
		is := now[q.row.Subject]
		if is.Outcome == q.before.Outcome && is.Request == q.before.Request && is.Block == q.before.Block {
			asked, rows = append(asked, q), append(rows, q.row)
		}
	}
	*questions = asked
	return tx.Screenings().Ask(ctx, rows...)
}

func subjects(questions []*question) []bursar.ID {
	ids := make([]bursar.ID, len(questions))
	for i, q := range questions {
		ids[i] = q.row.Subject
	}
	return ids
}

// askAll asks all questions at once, outside of any database transaction, and takes what is answered: one answer that
// takes long delays no other. It reports whether anything goes on or has ended.
func (s *Screener) askAll(ctx context.Context, lease store.Lease, questions []*question) (answered bool, failed error) {
	replies := s.ask(ctx, questions)
	for left := questions; len(left) > 0; {
		var there []*question
		if there, left = s.next(replies, left); ctx.Err() != nil {
			failed = errors.Join(failed, ctx.Err()) // this process ends: that says nothing about the service
			continue                                // until nobody asks any more
		}
		went, err := s.takeAll(ctx, lease, there)
		answered, failed = answered || went, errors.Join(failed, err)
	}
	return answered && failed == nil, failed
}

// next waits for answers, and returns the questions that have one, in their sequence, and those that are left. If not
// all are there soon, it waits for one at least.
func (s *Screener) next(answered <-chan *question, asked []*question) (there, left []*question) {
	came := map[*question]bool{}
	soon := s.soon()
	for late := false; len(came) < len(asked) && !(late && len(came) > 0); {
		select {
		case q := <-answered:
			came[q] = true
		case <-soon:
			soon, late = nil, true
		}
	}
	for _, q := range asked {
		if came[q] {
			there = append(there, q)
		} else {
			left = append(left, q)
		}
	}
	return there, left
}

func (s *Screener) soon() <-chan time.Time {
	if s.Soon != nil {
		return s.Soon()
	}
	return time.After(soonEnough)
}

// takeAll takes answers, each in a database transaction of its own, so that one that cannot be taken, as of a
// withdrawal that somebody altered, stands in no other's way. It reports whether anything goes on or has ended.
func (s *Screener) takeAll(ctx context.Context, lease store.Lease, questions []*question) (decided bool, failed error) {
	for _, q := range questions {
		var went bool
		err := s.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if _, err = tx.Leases().Fence(ctx, lease); err != nil {
				return err
			}
			if went, err = s.take(ctx, tx, q); err != nil {
				return err
			}
			return NoteOpen(ctx, tx, s.Chain)
		})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("screening of %s: %w", q.row.Subject, err))
		}
		decided = decided || err == nil && went
	}
	if decided && s.Decided != nil {
		s.Decided()
	}
	return decided, failed
}

// ask asks questions, and returns each as it is answered.
func (s *Screener) ask(ctx context.Context, questions []*question) <-chan *question {
	answered := make(chan *question, len(questions))
	for _, q := range questions {
		go func() {
			if q.failed == nil {
				q.reply, q.failed = s.Service.Ask(ctx, q.row.Request)
			}
			answered <- q
		}()
	}
	return answered
}

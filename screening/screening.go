// Package screening asks a screening service about each deposit before it is credited and about each payout before it
// is signed, and carries out what the service or an operator decides.
//
// It owns the questions and their answers. It changes no status itself: packages deposit and withdrawal do, in the same
// database transaction. Its invariants: nothing goes on without an answer that the service signed for this very payment
// and that has not expired, or without an operator who released it; no answer, and one that does not count, is never a
// pass; what the service wants reviewed is not asked again; the question is recorded before it is asked, and its answer
// is taken once.
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
	Final func(ctx context.Context, tx *store.Tx, limit int) (store.FinalDeposits, error)
}

// Run asks until ctx ends or the lease is lost, beside following the chain and paying.
func (s *Screener) Run(ctx context.Context, lease store.Lease) error {
	return store.Work{
		Pace: s.Pace, Patience: askPatience,
		Step: func(ctx context.Context) (bool, error) { return s.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			s.Log.Warn("nothing is screened now", "chain", lease.Chain, "failures", failures, "error", err)
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

// record records the questions before they are asked. It drops those about what was decided, or recorded in another
// block, since it was read what is to be asked: this transaction has locked the chain, as those have that do so.
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
func (s *Screener) askAll(ctx context.Context, lease store.Lease, questions []*question) (any bool, failed error) {
	answered := s.ask(ctx, questions)
	for left := questions; len(left) > 0; {
		var there []*question
		if there, left = s.next(answered, left); ctx.Err() != nil {
			failed = errors.Join(failed, ctx.Err()) // this process ends: that says nothing about the service
			continue                                // until nobody asks any more
		}
		went, err := s.takeAll(ctx, lease, there)
		any, failed = any || went, errors.Join(failed, err)
	}
	return any && failed == nil, failed
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
func (s *Screener) takeAll(ctx context.Context, lease store.Lease, questions []*question) (any bool, failed error) {
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
		any = any || err == nil && went
	}
	if any && s.Decided != nil {
		s.Decided()
	}
	return any, failed
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

// due returns what is to be asked about now, and whether the alarms say what is open.
func (s *Screener) due(ctx context.Context, lease store.Lease) (list []*question, noted bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list = nil
		instance, err := instanceOf(ctx, tx)
		if err != nil {
			return err
		}
		query, err := s.Final(ctx, tx, atOnce/2)
		if err != nil {
			return err
		}
		deposits, err := tx.Deposits().ToScreen(ctx, query)
		if err != nil {
			return err
		}
		for _, d := range deposits {
			list = append(list, &question{request: OfDeposit(d), row: rowOfDeposit(d)})
		}
		payouts, err := s.payouts(ctx, tx, lease)
		if err != nil {
			return err
		}
		orders, err := ordersOf(ctx, tx, payouts)
		if err != nil {
			return err
		}
		for _, w := range payouts {
			request, err := OfPayout(s.Registry, w, orders[w.ID].OrderID)
			if err != nil {
				return err
			}
			list = append(list, &question{request: request, row: store.Screening{Subject: w.ID, Kind: store.ScreenPayout,
				Chain: s.Chain, AccountID: w.AccountID}})
		}
		if noted, err = isNoted(ctx, tx, s.Chain); err != nil {
			return err
		}
		return s.prepare(ctx, tx, instance, list)
	})
	return list, noted, err
}

// payouts returns the withdrawals that are to be asked about: none while the database may be older than the chain,
// which may show that they were paid.
func (s *Screener) payouts(ctx context.Context, tx *store.Tx, lease store.Lease) ([]bursar.Withdrawal, error) {
	state, err := tx.Chains().State(ctx, s.Chain)
	if err != nil || !state.Ready(lease) {
		return nil, err
	}
	recovering, err := tx.Recoveries().IsOpen(ctx, s.Chain)
	if err != nil || recovering {
		return nil, err
	}
	var codes []bursar.CurrencyCode
	for _, c := range s.Registry.On(s.Chain) {
		codes = append(codes, c.Code)
	}
	return tx.Withdrawals().ToScreen(ctx, s.Chain, codes, atOnce/2)
}

// prepare completes the questions: the text of each, and when it is asked again if there is no answer.
func (s *Screener) prepare(ctx context.Context, tx *store.Tx, instance string, list []*question) error {
	before, err := tx.Screenings().Of(ctx, subjects(list))
	if err != nil {
		return err
	}
	for _, q := range list {
		q.request.Instance, q.request.Asking, q.request.Created = instance, s.IDs.Next(), tx.Now()
		q.row.Request, q.row.CreatedAt = q.request.Text(), tx.Now()
		q.request, q.failed = verdict.ParseRequest(q.row.Request) // as it is spelled, to the second
		was, is := before[q.row.Subject]
		if q.before = was; is && was.Outcome == store.ScreeningWaiting && was.Block == q.row.Block {
			q.row.Attempts, q.row.CreatedAt, q.row.Error = was.Attempts, was.CreatedAt, was.Error
		}
		q.row.NextAt = tx.Now().Add(pauseAfter(q.row.Attempts, longPause))
		q.row.Attempts++
	}
	return nil
}

// pauseAfter is how long a question waits that was asked in vain so often, and at most.
func pauseAfter(attempts int64, most time.Duration) time.Duration {
	return min(firstPause<<min(attempts, 10), most)
}

// instanceOf returns the name of the database.
func instanceOf(ctx context.Context, tx *store.Tx) (string, error) {
	name, err := tx.Settings().Get(ctx, "instance")
	if name == "" {
		name = "-"
	}
	return name, err
}

// OfDeposit returns what is asked about a deposit.
func OfDeposit(d bursar.Deposit) verdict.Request {
	return verdict.Request{
		Subject:  d.ID,
		Kind:     verdict.OfDeposit,
		Account:  d.AccountID,
		Chain:    d.Chain,
		Contract: d.Contract,
		Address:  d.Address,
		Units:    d.Amount,
		TxID:     d.TxID,
		Output:   d.Output,
		Block:    d.BlockHash,
	}
}

func rowOfDeposit(d bursar.Deposit) store.Screening {
	return store.Screening{
		Subject:   d.ID,
		Kind:      store.ScreenDeposit,
		Chain:     d.Chain,
		Block:     d.BlockHash,
		AccountID: d.AccountID,
		WalletID:  d.WalletID,
	}
}

// ordersOf returns the orders of those withdrawals that clients signed.
func ordersOf(
	ctx context.Context, tx *store.Tx, list []bursar.Withdrawal,
) (map[bursar.ID]bursar.SignedOrder, error) {
	ids := make([]bursar.ID, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	return tx.SignedOrders().Of(ctx, ids...)
}

// OfPayout returns what is asked about a withdrawal. order is the ID of the order that its client signed; zero: none
// did.
func OfPayout(registry *bursar.Registry, w bursar.Withdrawal, order bursar.ID) (verdict.Request, error) {
	currency, err := registry.Get(w.Currency)
	if order.IsZero() {
		order = w.ID // as the service writes it
	}
	return verdict.Request{
		Subject:  w.ID,
		Kind:     verdict.OfPayout,
		Order:    order,
		Account:  w.AccountID,
		Chain:    currency.Chain,
		Contract: currency.Contract,
		Address:  w.Address,
		Units:    w.Amount,
	}, err
}

package screening

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

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

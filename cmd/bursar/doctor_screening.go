package main

import (
	"context"

	"github.com/bursar/bursar/store"
)

// screening shows what waits for the screening service or for an operator: a warning, because money waits and none is
// lost. The service itself is not asked: a question is always about a payment.
func (e *healthCheck) screening(ctx context.Context, db *store.DB) {
	var sum store.OpenScreenings
	err := db.View(ctx, func(tx *store.Tx) error {
		sum = store.OpenScreenings{}
		for id := range e.cfg.Chains {
			open, err := tx.Screenings().Open(ctx, id)
			if err != nil {
				return err
			}
			sum.Review += open.Review
			sum.Unanswered += open.Unanswered
		}
		return nil
	})
	switch {
	case err != nil:
		e.advise("screening", resultFailed, "check the database", "%v", err)
	case sum.Unanswered > 0:
		e.advise("screening", resultWarning, "check `screening.url` and `screening.key`; `bursar screening list` says why",
			"%d deposits and payouts have no answer that counts", sum.Unanswered)
	}
	if sum.Review > 0 {
		e.advise("screening", resultWarning, "decide with `bursar screening release` or `bursar screening reject`",
			"%d deposits and payouts wait for a decision", sum.Review)
	}
	if err == nil && sum == (store.OpenScreenings{}) && e.cfg.Screening.On() {
		e.note("screening", resultOK, "nothing waits for an answer or a decision")
	}
}

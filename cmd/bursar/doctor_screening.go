package main

import (
	"context"
	"crypto/ed25519"
	"slices"

	"github.com/bursar/bursar/roster"
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
	e.screeningIsWhole(ctx, db)
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

// screeningIsWhole compares the configuration with what the database and the signer's policy demand.
func (e *healthCheck) screeningIsWhole(ctx context.Context, db *store.DB) {
	var noted string
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		noted, err = tx.Settings().Screened(ctx)
		return err
	})
	key := roster.ScreeningKeyText(e.cfg.Screening.Key)
	switch {
	case err != nil:
		e.advise("screening configuration", resultFailed, "check the database", "%v", err)
	case noted != "" && key == "":
		e.advise("screening configuration", resultFailed, "add `screening`, or run `bursar screening end`",
			"the payments of this database are screened, and the configuration has no screening: the service does not start")
	case noted != "" && key != noted:
		e.advise("screening configuration", resultWarning, "give every replica the same `screening.key`",
			"`screening.key` is %s; the replica that started last has %s", key, noted)
	}
	text, err := e.policyText(ctx, db)
	if err != nil || text == "" {
		return // policyOfPeople says so
	}
	p, err := roster.Read(text)
	screened := slices.ContainsFunc(p.Rules, func(r roster.Rule) bool { return r.Screened > 0 })
	takes := slices.ContainsFunc(p.Screeners, func(k ed25519.PublicKey) bool { return k.Equal(e.cfg.Screening.Key) })
	if err == nil && screened && !takes {
		e.advise("screening configuration", resultWarning,
			"add the key to the policy as `screening_key`, or configure one of the policy's",
			"rules of the policy demand a pass, and the policy does not take `screening.key`")
	}
}

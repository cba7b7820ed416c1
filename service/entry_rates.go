package service

import (
	"context"
	"time"

	"github.com/bursar/bursar/rate"
	"github.com/bursar/bursar/store"
)

// entryRatesEvery is how often entries are given the rates that count. No transaction that books waits for it.
const entryRatesEvery = 5 * time.Second

// noteRates gives each entry of the books what its currencies are worth in fiat, soon after it was posted.
func (s *Service) noteRates(ctx context.Context) error {
	if s.parts.Prices == nil {
		return nil
	}
	var patience ratePatience
	for {
		more, err := false, error(nil)
		if patience.ends(s.parts.Prices, s.DB.Now()) {
			more, err = s.noteNextRates(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("failed to record exchange rates of ledger entries", "error", err)
		}
		if more && err == nil {
			continue
		}
		if !s.DB.Sleep(ctx, entryRatesEvery) {
			return ctx.Err()
		}
	}
}

// ratesWaited is how long entries wait for rates that are missing, such as before a source has answered for the first
// time: an entry is looked at once.
const ratesWaited = time.Minute

// ratePatience remembers since when rates are missing.
type ratePatience struct{ since time.Time }

// ends reports whether to go on with the rates that count: none is missing, or they have been missing for long.
func (p *ratePatience) ends(prices Prices, now time.Time) bool {
	board, says := prices.(interface{ Missing() []rate.Pair })
	if !says || len(board.Missing()) == 0 {
		p.since = time.Time{}
		return true
	}
	if p.since.IsZero() {
		p.since = now
	}
	return now.Sub(p.since) >= ratesWaited
}

// noteNextRates gives a bounded number of entries their rates, and reports whether more wait.
func (s *Service) noteNextRates(ctx context.Context) (more bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		more, err = tx.EntryRates().Waiting(ctx)
		return err
	})
	if err != nil || !more {
		return false, err
	}
	counting := s.parts.Prices.All() // from memory, before the transaction
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		more, err = tx.EntryRates().Note(ctx, counting, s.parts.Prices.MaxAge())
		return err
	})
	return more, err
}

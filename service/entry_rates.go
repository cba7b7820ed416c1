package service

import (
	"context"
	"time"

	"github.com/bursar/bursar/store"
)

// entryRatesEvery is how often entries are given the rates that count. No transaction that books waits for it.
const entryRatesEvery = 5 * time.Second

// noteRates gives each entry of the books what its currencies are worth in fiat, soon after it was posted.
func (s *Service) noteRates(ctx context.Context) error {
	if s.parts.Prices == nil {
		return nil
	}
	for {
		more, err := s.noteNextRates(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the rates of entries were not noted", "error", err)
		}
		if more && err == nil {
			continue
		}
		if !s.DB.Sleep(ctx, entryRatesEvery) {
			return ctx.Err()
		}
	}
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

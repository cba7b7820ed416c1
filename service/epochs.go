package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// beginEpochs makes all new addresses those of the epoch that the keys are in. A service of an earlier epoch beside
// this one then makes no address any more: it does not have the keys. An unreachable database is waited for; one that
// has used a later epoch is an error.
func (s *Service) beginEpochs(ctx context.Context) error {
	s.closeEpochAlarm(ctx)
	for _, id := range s.order {
		capabilities := s.workers[id].chain.Capabilities()
		if capabilities.SharedAddress {
			continue // its wallets differ by tags, and its account stays
		}
		for {
			err := s.beginEpoch(ctx, capabilities.Family)
			if err == nil {
				break
			}
			if errors.Is(err, recovery.ErrEpochBack) || ctx.Err() != nil {
				return fmt.Errorf("begin epoch %d of %s: %w", s.Keys.Epoch(), capabilities.Family, err)
			}
			s.log.Warn("the epoch cannot begin yet", "epoch", s.Keys.Epoch(), "family", capabilities.Family, "error", err)
			sleep(ctx, time.Second)
		}
	}
	return nil
}

func (s *Service) beginEpoch(ctx context.Context, family bursar.Family) error {
	e, due := s.Keys.Epoch(), false
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		next, err := tx.KeyIndexes().Next(ctx, family)
		if err == nil {
			due, err = recovery.EpochDue(next, e)
		}
		return err
	})
	if err != nil || !due {
		return err
	}
	s.log.Info("epoch begins", "epoch", e, "family", family)
	if s.Guard != nil {
		return s.Guard.BeginEpoch(ctx, family, e)
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error { return tx.KeyIndexes().Skip(ctx, family, int64(e.First())) })
}

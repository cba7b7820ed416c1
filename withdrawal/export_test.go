package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Together makes requests in one batch, as when they come at the same time.
func (s *Service) Together(ctx context.Context, requests []Request) ([]store.Result[bursar.Withdrawal], error) {
	batch := make([]prepared, len(requests))
	for i, r := range requests {
		order, err := s.verified(ctx, r)
		if err != nil {
			return nil, err
		}
		if batch[i], err = s.prepare(ctx, r, order); err != nil {
			return nil, err
		}
	}
	var results []store.Result[bursar.Withdrawal]
	err := s.db.Do(ctx, func(tx *store.Tx) (err error) {
		results, err = s.holdAll(ctx, tx, batch)
		return err
	})
	return results, err
}

package wallet

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Together makes wallets in one transaction, as a batch of concurrent requests does.
func (s *Service) Together(ctx context.Context, requests []New) (results []store.Result[bursar.Wallet], err error) {
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		results, err = s.createAll(ctx, tx, requests)
		return err
	})
	return results, err
}

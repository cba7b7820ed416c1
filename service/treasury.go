package service

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
	"github.com/bursar/bursar/withdrawal"
)

// addTreasury lets the treasury pay by the same path as every withdrawal.
func (s *Service) addTreasury() {
	s.Treasury = &treasury.Service{DB: s.DB, Registry: s.Registry,
		Pay: func(ctx context.Context, o treasury.Request, address string,
			fund, done func(context.Context, *store.Tx, bursar.Withdrawal) error) (bursar.Withdrawal, error) {
			return s.Withdrawals.Request(ctx, withdrawal.Request{
				Account:  treasury.Account,
				Currency: o.Currency,
				Amount:   o.Amount,
				Address:  address,
				By:       o.Actor,
				Fund:     fund,
				Done:     done,
			})
		}}
}

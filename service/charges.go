package service

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/service/charging"
)

// newCharges returns the service of charges, over those of wallets and withdrawals.
func (s *Service) newCharges() *charge.Service {
	return &charge.Service{
		DB:       s.DB,
		Registry: s.Registry,
		Wallets:  charging.Wallets{Service: s.Wallets},
		IDs:      s.IDs,
		Keeper: charging.Keeper{Announcer: deposit.Announcer{Registry: s.Registry, IDs: s.IDs, Log: s.log,
			Rates: s.parts.Rates, Prices: s.parts.Prices}},
		Payer:  charging.Payer{Service: s.Withdrawals},
		Prices: s.parts.Prices,
		Log:    s.log,
	}
}

// Prices are rates in fiat, from memory.
type Prices interface {
	deposit.Prices
	charge.Prices
	All() []bursar.PairRate
}

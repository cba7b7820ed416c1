package service

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
)

// policies says what may be signed on each chain.
func policies(parts []ChainPart, registry *bursar.Registry) map[bursar.ChainID]signer.Policy {
	all := map[bursar.ChainID]signer.Policy{}
	for _, part := range parts {
		traits, hourly := part.Chain.Traits(), map[string]bursar.Amount{}
		for _, currency := range registry.On(traits.ID) {
			if !currency.HourlyLimit.IsZero() {
				hourly[currency.Contract] = currency.HourlyLimit
			}
		}
		all[traits.ID] = signer.Policy{Traits: traits, Signable: part.Chain, MaxFee: part.MaxFee, MaxRate: part.MaxRate, Hourly: hourly}
	}
	return all
}

package service

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/destination"
)

// rateLimits returns the configured limits over the defaults of the network.
func rateLimits(cfg config.Config) api.RateLimits {
	limits := api.DefaultRateLimits()
	if cfg.Network == config.Regtest { // private networks are for tests, which need higher limits
		limits = api.RateLimits{}
	}
	named := cfg.Limits
	for _, l := range []struct {
		limit *api.Limit
		rate  *config.Rate
	}{{&limits.Read, named.Read}, {&limits.Change, named.Change}, {&limits.Withdraw, named.Withdraw},
		{&limits.TestDelivery, named.TestDelivery},
		{&limits.Address, named.Address}, {&limits.Failed, named.Failed}} {
		switch {
		case l.rate == nil:
		case l.rate.Count == 0:
			*l.limit = api.Limit{}
		default:
			*l.limit = api.Limit{PerSecond: float64(l.rate.Count) / l.rate.Per.Seconds(), Burst: l.rate.Burst}
		}
	}
	return limits
}

// addDestinations assembles the lists of destinations over the configured chains.
func (s *Service) addDestinations() {
	chains := map[bursar.ChainID]destination.Chain{}
	for id, w := range s.workers {
		chains[id] = w.chain
	}
	s.Destinations = &destination.Service{
		DB:       s.DB,
		Chains:   chains,
		Registry: s.Registry,
		IDs:      s.IDs,
		Hold:     s.parts.DestinationHold,
	}
}

package service

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/sweep"
	"github.com/bursar/bursar/webhook"
)

// TestHooks are what a simulation replaces, so that the same seed gives the same history. In production each must keep
// its default: with a known source of randomness, API keys and IDs can be guessed.
type TestHooks struct {
	Random    io.Reader           // for IDs and API keys
	Clock     func() time.Time    // clock of this process; the database has its own
	Receivers webhook.Poster      // transport of webhooks
	Spread    func(n int64) int64 // jitter of retries: a number in [0, n)
}

func (s TestHooks) webhooks(c webhook.Config) webhook.Config {
	c.Client, c.Clock, c.Rand = s.Receivers, s.Clock, s.Spread
	return c
}

func (s TestHooks) accounts(a *account.Service) {
	if s.Random != nil {
		a.DrawFrom(s.Random)
	}
}

func (s TestHooks) policies(all map[bursar.ChainID]signer.Bounds) map[bursar.ChainID]signer.Bounds {
	for id, p := range all {
		p.Now = s.Clock
		all[id] = p
	}
	return all
}

// Workers are the workers of one chain. A caller that runs their steps one by one must not Run the service.
type Workers struct {
	Follower follower.Followed
	Sender   *outgoing.Sender
	Sweeper  *sweep.Sweeper
	Screener *screening.Screener // nil: nothing is screened
}

// Workers returns the workers of a configured chain, and the zero value for any other.
func (s *Service) Workers(id bursar.ChainID) Workers {
	w, found := s.workers[id]
	if !found {
		return Workers{}
	}
	return Workers{w.follower, w.sender, w.sweeper, w.screener}
}

// BeginEpochs makes all new addresses those of the epoch that the keys are in, as Run does before anything else.
func (s *Service) BeginEpochs(ctx context.Context) error { return s.beginEpochs(ctx) }

// Handler serves the API without a socket, and without payers' pages.
func (s *Service) Handler() http.Handler { return api.Server(api.New(s.apiConfig()), s.log).Handler }

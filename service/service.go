// Package service wires the packages into one running service, the same for the command and for the sandbox.
//
// It owns which workers run and how they wake each other. It contains no rule about money, no SQL and nothing specific
// to a chain. Its invariant: every worker finds its work by state in the database, so that a lost wake-up costs only
// time.
package service

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/requestlog"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

// Service is the assembled service. Its services of domain types may be used before and while it runs.
type Service struct {
	DB             *store.DB
	Registry       *bursar.Registry
	Keys           Keys
	Accounts       *account.Service
	Wallets        *wallet.Service
	Pool           *wallet.Pool
	Charges        *charge.Service
	Withdrawals    *withdrawal.Service
	Limits         *withdrawal.Limits
	Unattributed   *unattributed.Service
	Deliverer      *webhook.Deliverer
	TestDeliveries *webhook.TestDeliveries
	IDs            *bursar.IDs

	Destinations *destination.Service
	Auditor      *audit.Auditor
	Guard        *recovery.Guard // nil if no marks are kept
	Treasury     *treasury.Service
	Approvals    *relay.Relay
	Screenings   *screening.Decisions
	Notifier     *notice.Notifier
	Proposals    *proposal.Service // nobody may propose anything where its May is not set

	anchored   atomic.Int64                            // the link of the books that was logged last
	compromise atomic.Pointer[people.CompromiseStatus] // what the signer said last of compromise orders; nil: nothing

	policyAt   atomic.Pointer[store.PolicyClaim] // the policy of the signer that was noted last; nil: none
	policyLost atomic.Pointer[string]            // why the signer's policy is lost, as it was noted last; nil: never

	signerAt atomic.Pointer[memory.Checkpoint] // the entry of the signer's log that was noted last; nil: none
	frozen   atomic.Pointer[string]            // why the signer is frozen, as it said last; nil: it was not asked

	epochs heardEpochs // what the signer said of epochs

	parts Parts
	log   *slog.Logger

	requests *requestlog.Log // what is asked of the API; nil: it is not logged

	suspended *suspensions
	guesses   *guesses // of the admin address's password

	workers   map[bursar.ChainID]*worker
	order     []bursar.ChainID
	addresses map[bursar.Family]*follow.Addresses
	sides     []side
	close     []func() error
}

// New assembles a service and starts nothing.
func New(p Parts) (*Service, error) {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	p.Log = slog.New(requestlog.Naming(p.Log.Handler()))
	if p.LeaseTTL == 0 {
		p.LeaseTTL = 5 * time.Second
	}
	if err := p.signsHere(); err != nil {
		return nil, fmt.Errorf("prepare the signer: %w", err)
	}
	s := &Service{
		DB:        p.DB,
		Keys:      p.Keys,
		Registry:  p.Registry,
		parts:     p,
		log:       p.Log,
		workers:   map[bursar.ChainID]*worker{},
		addresses: map[bursar.Family]*follow.Addresses{},
		suspended: newSuspensions(),
		guesses:   newGuesses(),
		IDs:       bursar.NewIDs(p.DB.Now, p.TestHooks.Random),
		epochs:    heardEpochs{next: make(chan struct{})},
	}
	s.DB.InEpoch(uint32(s.Keys.Epoch()))
	if p.RequestLog > 0 {
		s.requests = &requestlog.Log{DB: p.DB, Keep: p.RequestLog, Logger: p.Log}
	}
	s.newAuditor()
	s.addRelay()
	s.Deliverer = webhook.New(p.TestHooks.webhooks(webhook.Config{
		DB:            p.DB,
		Secrets:       s.Keys,
		AllowNetworks: p.Allowed,
		Log:           p.Log,
		Ahead:         p.Ahead,
	}))
	for _, part := range p.Chains {
		if err := s.addWorker(part); err != nil {
			return nil, fmt.Errorf("prepare chain %s: %w", part.Chain.Capabilities().ID, err)
		}
	}
	s.linkSharedKeys()
	s.addServices()
	s.addDestinations()
	s.addTreasury()
	s.addScreenings()
	s.addNotifier()
	s.Proposals = s.proposals()
	s.newPool()
	s.newGuard()
	return s, nil
}

// addressesOf returns the addresses of a family, which all its chains share.
func (s *Service) addressesOf(family bursar.Family) *follow.Addresses {
	if s.addresses[family] == nil {
		s.addresses[family] = follow.NewAddresses(s.DB, family)
	}
	return s.addresses[family]
}

// hotsOf returns the hot wallet of a chain, and those of the epochs before.
func (s *Service) hotsOf(c chain.Chain) (hot chain.Source, old []chain.Source, err error) {
	present := chain.HotIn(c.Capabilities(), s.Keys.Epoch()).Epoch()
	for e := range present {
		one, err := s.hotOf(c, e)
		if err != nil {
			return hot, nil, err
		}
		old = append(old, one)
	}
	hot, err = s.hotOf(c, present)
	return hot, old, err
}

// hotOf returns the hot wallet that a chain has in an epoch.
func (s *Service) hotOf(c chain.Chain, e chain.Epoch) (chain.Source, error) {
	key := chain.HotIn(c.Capabilities(), e)
	pub, err := s.Keys.Public(key)
	if err != nil {
		return chain.Source{}, err
	}
	address, err := c.Address(pub, 0)
	return chain.Source{Key: key, Base: address.Base, Pub: hex.EncodeToString(pub)}, err
}

// operatorAddress returns where operator funds are received: the hot wallet's address, unless customers' wallets share
// it. In that case a transfer without a memo may be anybody's, and is unattributed.
func operatorAddress(hot chain.Source, capabilities chain.Capabilities) string {
	if capabilities.SharedAddress {
		return ""
	}
	return hot.Base
}

// hint wakes a sleeping worker; it never blocks.
func hint(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// decided wakes the workers that carry out a resolution or an approval.
func (s *Service) decided(id bursar.ChainID) {
	s.Deliverer.Wake()
	if w, found := s.workers[id]; found {
		hint(w.payouts)
	}
}

// Follower returns the follower of a chain, for rescans.
func (s *Service) Follower(id bursar.ChainID) (*follow.Follower, error) {
	w, found := s.workers[id]
	if !found {
		return nil, fmt.Errorf("chain %q is not configured", id)
	}
	return w.follower.Follower, nil
}

// Chain returns a chain's adapter.
func (s *Service) Chain(id bursar.ChainID) (chain.Chain, bool) {
	w, found := s.workers[id]
	if !found {
		return nil, false
	}
	return w.chain, true
}

// Hot returns the hot wallet's address on a chain: it receives change, sweeps and operator funds.
func (s *Service) Hot(id bursar.ChainID) chain.Source {
	if w, found := s.workers[id]; found {
		return w.hot
	}
	return chain.Source{}
}

// Close closes what Open opened.
func (s *Service) Close() error {
	var errs []error
	for _, f := range s.close {
		errs = append(errs, f())
	}
	s.close = nil
	return errors.Join(errs...)
}

// linkSharedKeys sets for every follower which other chains share its keys: an external spend on one of them halts all.
func (s *Service) linkSharedKeys() {
	for _, id := range s.order {
		w := s.workers[id]
		for _, other := range s.order {
			if other != id && s.workers[other].chain.Capabilities().Family == w.chain.Capabilities().Family {
				w.follower.Externals.SharedKeys = append(w.follower.Externals.SharedKeys, other)
			}
		}
	}
}

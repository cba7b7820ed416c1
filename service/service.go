// Package service wires the packages into one running service, the same for the command and for the sandbox.
//
// It owns which workers run and how they wake each other. It contains no rule about money, no SQL and nothing specific
// to a chain. Its invariant: every worker finds its work by state in the database, so that a lost wake-up costs only
// time.
package service

import (
	"cmp"
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
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/requestlog"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/sweep"
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

	anchored   atomic.Int64                      // the link of the books that was logged last
	policyAt   atomic.Pointer[store.PolicyClaim] // the policy of the signer that was noted last; nil: none
	policyLost atomic.Pointer[string]            // why the signer's policy is lost, as it was noted last; nil: never

	signerAt atomic.Pointer[memory.Checkpoint] // the entry of the signer's log that was noted last; nil: none
	frozen   atomic.Pointer[string]            // why the signer is frozen, as it said last; nil: it was not asked

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

// worker holds the workers of one chain while this process holds its lease.
type worker struct {
	chain    chain.Chain
	hot      chain.Source
	old      []chain.Source // the hot wallets of earlier epochs, oldest first
	follower follower.Followed
	sender   *outgoing.Sender
	sweeper  *sweep.Sweeper
	keep     *reconcile.Keep
	screener *screening.Screener // nil: nothing is screened
	blocks   chan struct{}       // wakes the follower
	push     []*subscription
	payouts  chan struct{} // wakes the sender
}

// New assembles a service and starts nothing.
func New(p Parts) (*Service, error) {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
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
		IDs:       bursar.NewIDs(p.DB.Now, p.Seams.Random),
	}
	if p.RequestLog > 0 {
		s.requests = &requestlog.Log{DB: p.DB, Keep: p.RequestLog, Logger: p.Log}
	}
	s.newAuditor()
	s.addRelay()
	s.Deliverer = webhook.New(p.Seams.webhooks(webhook.Config{
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
	s.addKin()
	s.addNouns()
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

func (s *Service) addWorker(part ChainPart) error {
	capabilities := part.Chain.Capabilities()
	if err := s.checkQuorum(part.Chain); err != nil {
		return err
	}
	_, s.suspended.waiting[capabilities.ID] = part.Chain.(chain.AssetChecker)
	hot, old, err := s.hotsOf(part.Chain)
	if err != nil {
		return err
	}
	cold, err := coldOf(part.Chain, part.Cold, hot.Base)
	if err != nil {
		return err
	}
	w := &worker{
		chain: part.Chain,
		hot:   hot, old: old,
		blocks:  make(chan struct{}, 1),
		payouts: make(chan struct{}, 1),
	}
	log, pace := s.log.With("component", "chain"), cmp.Or(part.Pace, s.parts.Pace)
	w.follower = follower.Follow(follower.Following{DB: s.DB, Chain: part.Chain, Registry: s.Registry, IDs: s.IDs,
		Log: log, Hot: w.hot.Base, OperatorAddress: operatorAddress(w.hot, capabilities), Pace: pace, Cold: cold,
		Old: old, Epoch: hot.Key.Epoch(),
		Addresses: s.addressesOf(capabilities.Family), Screened: s.parts.Screening != nil})
	w.follower.Start, w.follower.Wake = part.Start, w.blocks
	w.follower.Advanced = func() { s.Deliverer.Wake(); hint(w.payouts) }
	w.follower.Deposits.Rates, w.follower.Deposits.Suspended = s.parts.Rates, s.Suspended
	w.follower.Deposits.Prices = s.parts.Prices
	w.push = subscriptions(part, w.blocks, w.follower.Recorded, log)
	_, absent := s.parts.Signer.(absentSigner)
	w.sender = &outgoing.Sender{
		DB:               s.DB,
		Chain:            part.Chain,
		Signer:           s.parts.Signer,
		Registry:         s.Registry,
		IDs:              s.IDs,
		Log:              log,
		Hot:              w.hot,
		Old:              w.old,
		MaxFee:           part.MaxFee,
		Cold:             cold,
		Pace:             pace,
		Wake:             w.payouts,
		Settled:          s.Deliverer.Wake,
		Suspended:        s.Suspended,
		Books:            s.Auditor,
		Unsignable:       absent,
		GasFromCustomers: part.GasFromCustomers,
		Orders:           s.orders,
	}
	w.sweeper = &sweep.Sweeper{
		DB:        s.DB,
		Chain:     part.Chain,
		Registry:  s.Registry,
		IDs:       s.IDs,
		Log:       log,
		Hot:       w.hot,
		Old:       w.old,
		MaxFee:    part.MaxFee,
		Pace:      pace,
		Suspended: s.Suspended,
		Rates:     s.parts.Rates,
	}
	w.keep = &reconcile.Keep{Reconciler: s.reconciler(w), Log: log}
	s.addScreener(w, log, pace)
	s.workers[capabilities.ID] = w
	s.order = append(s.order, capabilities.ID)
	return nil
}

// reconciler compares the books with the chain of a worker.
func (s *Service) reconciler(w *worker) reconcile.Reconciler {
	return reconcile.Reconciler{
		DB:       s.DB,
		Chain:    w.chain,
		Registry: s.Registry,
		Hot:      w.hot.Base,
		Old:      basesOf(w.old),
		Cold:     bursar.ColdBases(w.sender.Cold),
	}
}

// checkQuorum refuses a credit quorum that the configured nodes can never reach.
func (s *Service) checkQuorum(c chain.Chain) error {
	hosts := map[string]bool{}
	reader, able := c.(chain.EndpointReader)
	if able {
		for _, e := range reader.Endpoints() {
			hosts[e.Host] = true
		}
	}
	for _, currency := range s.Registry.On(c.Capabilities().ID) {
		if wanted := currency.CreditQuorum.Endpoints; wanted > 1 && wanted > len(hosts) {
			return fmt.Errorf("credit_quorum of %s requires %d endpoints of different hosts, but rpc has %d", currency.Code,
				wanted, len(hosts))
		}
	}
	return nil
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

func (s *Service) addNouns() {
	walletChains, payChains, hot := map[bursar.ChainID]wallet.Chain{}, map[bursar.ChainID]withdrawal.Chain{},
		map[bursar.ChainID]string{}
	chains := map[bursar.ChainID]unattributed.ChainContext{}
	for id, w := range s.workers {
		walletChains[id], payChains[id], hot[id] = w.chain, w.chain, w.hot.Base
		chains[id] = unattributed.ChainContext{Chain: w.chain, Creditor: w.follower.Deposits, Hot: w.hot.Base}
	}
	s.Unattributed = &unattributed.Service{
		DB:       s.DB,
		Chains:   chains,
		Registry: s.Registry,
		IDs:      s.IDs,
		Log:      s.log,
		Resolved: s.decided,
		Behind:   s.behind,
	}
	s.Accounts = account.NewService(s.DB, s.IDs)
	s.parts.Seams.accounts(s.Accounts)
	s.Wallets = wallet.NewService(s.DB, s.Keys, walletChains, s.Registry, s.IDs, s.parts.receivers())
	s.Wallets.Suspended, s.Wallets.Cold = s.refuses, map[string]bool{}
	for _, base := range bursar.ColdBases(s.ColdWallets()) {
		s.Wallets.Cold[base] = true
	}
	s.TestDeliveries = &webhook.TestDeliveries{DB: s.DB, IDs: s.IDs, Receivers: s.parts.receivers()}
	s.Withdrawals = withdrawal.NewService(withdrawal.Config{
		Leave:     outgoing.Leave,
		DB:        s.DB,
		Chains:    payChains,
		Hot:       hot,
		Registry:  s.Registry,
		IDs:       s.IDs,
		Rates:     s.parts.Rates,
		Log:       s.log,
		Suspended: s.refuses,
		Behind:    s.behind,
		Taken:     func(id bursar.ChainID) { hint(s.workers[id].payouts) },
		Announced: s.Deliverer.WakeFor,
		Prices:    s.parts.Prices,
	})
	s.Charges = s.newCharges()
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

// WakeChain hints that a chain has a new block.
func (s *Service) WakeChain(id bursar.ChainID) {
	if w, found := s.workers[id]; found {
		hint(w.blocks)
	}
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

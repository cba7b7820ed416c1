package service

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/sweep"
)

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
		chain: part.Chain, hot: hot, old: old,
		blocks:  make(chan struct{}, 1),
		payouts: make(chan struct{}, 1),
	}
	log, pace := s.log.With("component", "chain"), cmp.Or(part.Pace, s.parts.Pace)
	w.follower = s.newFollower(part, w, cold, log, pace)
	w.push = subscriptions(part, w.blocks, w.follower.Recorded, log)
	w.sender = s.newSender(part, w, cold, log, pace)
	w.sweeper = s.newSweeper(part, w, log, pace)
	w.keep = &reconcile.Keep{Reconciler: s.reconciler(w), Cold: cold, Log: log}
	s.addScreener(w, log, pace)
	s.workers[capabilities.ID] = w
	s.order = append(s.order, capabilities.ID)
	return nil
}

// newFollower returns what follows the chain of a worker. It wakes the deliverer and the worker's sender.
func (s *Service) newFollower(
	part ChainPart, w *worker, cold []bursar.ColdWallet, log *slog.Logger, pace time.Duration,
) follower.Followed {
	capabilities := part.Chain.Capabilities()
	f := follower.Follow(follower.Following{DB: s.DB, Chain: part.Chain, Registry: s.Registry, IDs: s.IDs,
		Log: log, Hot: w.hot.Base, OperatorAddress: operatorAddress(w.hot, capabilities), Pace: pace, Cold: cold,
		Old: w.old, Epoch: w.hot.Key.Epoch(),
		Addresses: s.addressesOf(capabilities.Family), Screened: s.parts.Screening != nil})
	f.Start, f.Wake = part.Start, w.blocks
	f.Advanced = func() { s.Deliverer.Wake(); hint(w.payouts) }
	f.Deposits.Rates, f.Deposits.Suspended = s.parts.Rates, s.Suspended
	f.Deposits.Prices = s.parts.Prices
	return f
}

// newSender returns what pays from the hot wallet of a worker.
func (s *Service) newSender(
	part ChainPart, w *worker, cold []bursar.ColdWallet, log *slog.Logger, pace time.Duration,
) *outgoing.Sender {
	_, absent := s.parts.Signer.(absentSigner)
	return outgoing.NewSender(outgoing.Config{
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
		EventsRecorded:   s.Deliverer.Wake,
		Suspended:        s.Suspended,
		Books:            s.Auditor,
		Unsignable:       absent,
		SoleSigner:       s.soleSigner(),
		GasFromCustomers: part.GasFromCustomers,
		Orders:           s.orders,
		Emptying:         s.emptyingOf(part.Chain.Capabilities().ID),
	})
}

// newSweeper returns what collects for the hot wallet of a worker.
func (s *Service) newSweeper(part ChainPart, w *worker, log *slog.Logger, pace time.Duration) *sweep.Sweeper {
	return &sweep.Sweeper{
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
		Emptying:  s.emptyingOf(part.Chain.Capabilities().ID),
	}
}

// soleSigner reports whether all processes of this database have one signer: a remote one, or that of the only process.
// On PostgreSQL several may have a signer of their own.
func (s *Service) soleSigner() bool {
	_, here := s.parts.Signer.(*signer.Signer)
	return s.parts.SoleSigner || !here || !s.DB.Postgres()
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

package service

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/panics"
	"github.com/bursar/bursar/store"
)

// Run runs every worker and serves HTTP until ctx ends; then it finishes work in progress and returns nil. An
// unreachable node, database or receiver is waited for; an address that cannot be listened on and an address pool of
// another seed are errors.
func (s *Service) Run(ctx context.Context) error {
	err := s.begin(ctx)
	if err == nil {
		err = s.work(ctx)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // whatever was done just then, the start included
		return nil
	}
	return err
}

// begin does what comes before every worker.
func (s *Service) begin(ctx context.Context) error {
	s.warnOfGas()
	if err := s.startGuard(ctx); err != nil {
		return err
	}
	if err := s.beginEpochs(ctx); err != nil {
		return err
	}
	if err := s.startSignerLog(ctx); err != nil {
		return err
	}
	if err := s.CheckCold(ctx); err != nil {
		return err
	}
	if err := s.checkScreening(ctx); err != nil {
		return err
	}
	s.armSigner(ctx)
	if err := s.notePolicy(ctx); err != nil {
		s.log.Warn("the signer's policy is not known", "error", err)
	}
	if err := s.primePool(ctx); err != nil {
		return err
	}
	return errors.Join(s.Listen(), s.evaluateProposals())
}

// work runs every worker until ctx ends or one fails, and then what ends last.
func (s *Service) work(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, side := range s.sides {
		side.serve(ctx, group)
	}
	for _, id := range s.order {
		w := s.workers[id]
		group.Go(func() error { return s.holdLease(ctx, w) })
		group.Go(s.enduring(ctx, "token check", func(ctx context.Context) error { return s.watchAssets(ctx, w) }))
	}
	group.Go(s.enduring(ctx, "signer halts", s.watchHalts))
	group.Go(s.enduring(ctx, "signer policy", s.watchPolicy))
	group.Go(func() error { return s.Deliverer.Run(ctx) }) // its runs and attempts recover from panics one by one
	group.Go(s.enduring(ctx, "address pool", s.Pool.Run))
	group.Go(s.enduring(ctx, "housekeeping", s.housekeeping))
	group.Go(s.enduring(ctx, "figures of days", s.foldFigures))
	group.Go(s.enduring(ctx, "rates", s.runRates))
	group.Go(s.enduring(ctx, "prices", s.runPrices))
	group.Go(s.enduring(ctx, "rates of entries", s.noteRates))
	group.Go(s.enduring(ctx, "charges", s.Charges.Run))
	group.Go(s.enduring(ctx, "notices", s.Notifier.Run))
	if s.Proposals.May != nil { // otherwise another replica knows who may approve
		group.Go(s.enduring(ctx, "proposals", s.Proposals.Run))
	}
	if s.requests != nil {
		group.Go(s.enduring(ctx, "log of requests", s.requests.Run))
	}
	if s.Guard != nil {
		group.Go(s.enduring(ctx, "marks", s.Guard.Run))
	}
	group.Go(func() error { return s.runAudit(ctx) })
	group.Go(func() error { return s.runVerdict(ctx) })
	err := group.Wait()
	s.stopGuard(ctx)
	s.stopSignerLog(ctx)
	return err
}

// holdLease runs a chain's workers whenever this process holds the chain lease.
func (s *Service) holdLease(ctx context.Context, w *worker) error {
	id := w.chain.Capabilities().ID
	for ctx.Err() == nil {
		err := s.DB.WithLease(ctx, id, s.parts.Holder, s.parts.LeaseTTL, func(ctx context.Context, lease store.Lease) error {
			s.log.Info("chain lease acquired", "chain", id, "token", lease.Token)
			if err := s.actOnEpoch(ctx, lease, w); err != nil {
				return err
			}
			return s.guarded(ctx, lease, w.run)
		})
		if ctx.Err() == nil {
			s.log.Warn("chain lease not acquired or lost", "chain", id, "error", err)
			sleep(ctx, time.Second)
		}
	}
	return ctx.Err()
}

func (w *worker) run(ctx context.Context, lease store.Lease) error {
	group, ctx := errgroup.WithContext(ctx)
	works := []func(context.Context, store.Lease) error{w.follower.Run, w.follower.Quorum.Run, w.sender.Run,
		w.sweeper.Run, w.keep.Run}
	if w.screener != nil {
		works = append(works, w.screener.Run)
	}
	for _, s := range w.push {
		works = append(works, s.run)
	}
	for _, work := range works {
		group.Go(func() error { return guarded(ctx, lease, work) })
	}
	return group.Wait()
}

// guarded turns a panic into an error: a failure on one chain must not end the process, and with it the API and the
// other chains. The lease is released and the chain starts again from what is committed.
func guarded(ctx context.Context, lease store.Lease, work func(context.Context, store.Lease) error) error {
	return panics.CatchWithStack("a worker", func() error { return work(ctx, lease) })
}

// enduring runs work that never ends by itself, and restarts it a second after a panic: only the API and the chains may
// end the process. Any other end of the work is final.
func (s *Service) enduring(ctx context.Context, name string, work func(context.Context) error) func() error {
	return func() error {
		for {
			panicked := true
			err := guarded(ctx, store.Lease{}, func(ctx context.Context, _ store.Lease) error {
				err := work(ctx)
				panicked = false
				return err
			})
			if !panicked {
				return err
			}
			s.log.Error("worker panicked and is restarted", "what", name, "error", err)
			sleep(ctx, time.Second)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// idempotencyLife is how long an answer is kept under its idempotency key; the contract promises 24 hours.
const idempotencyLife = 48 * time.Hour

func (s *Service) housekeeping(ctx context.Context) error {
	ticker := time.NewTicker(10 * time.Minute)
	defer ticker.Stop()
	for {
		s.updateSuspended(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		err := s.DB.Do(ctx, func(tx *store.Tx) error {
			_, err := tx.IdempotencyKeys().Forget(ctx, tx.Now().Add(-idempotencyLife))
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.log.Warn("housekeeping failed", "error", err)
		}
	}
}

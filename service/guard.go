package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
)

// unexpiring is how long nothing is signed after a recovery began, on a chain whose transactions do not expire:
// transactions sent before, at the fees of that time, are in a block by then.
var unexpiring = chain.Lifetime{Blocks: 12, Time: 30 * time.Minute}

// newGuard creates the guard that compares the database with the marks outside it, if marks are kept.
func (s *Service) newGuard() {
	for id, w := range s.workers {
		w.follower.Externals.Own, w.follower.Wait = w.hot, unexpiring
		if s.parts.Marks == nil {
			continue
		}
		w.follower.Current = func() bool { return s.Guard.HoldsLease(id) }
		w.follower.KnownFinal = func() uint64 { return s.Guard.KnownFinal(id) }
	}
	if s.parts.Marks == nil {
		return
	}
	s.Guard = &recovery.Guard{DB: s.DB, Keeper: s.parts.Marks, Chains: s.order, Log: s.log, Derive: s.gapAddresses,
		Name: func() string { return s.IDs.Next().String() }, SynchronousFailover: s.parts.SynchronousFailover}
	for _, id := range s.order {
		if family := s.workers[id].chain.Capabilities().Family; !slices.Contains(s.Guard.Families, family) {
			s.Guard.Families = append(s.Guard.Families, family)
		}
		s.workers[id].sender.Marks = s.Guard
	}
	s.Wallets.Marks, s.Auditor.Anchor = s.Guard, anchor{s.Guard}
}

// startGuard compares the database with the marks before anything is paid or any address is issued. An unreachable
// database is waited for; marks that are missing or cannot be written are an error.
func (s *Service) startGuard(ctx context.Context) error {
	if s.Guard == nil {
		return nil
	}
	for {
		err := s.Guard.Start(ctx)
		if err == nil || errors.Is(err, marks.ErrMissing) || errors.Is(err, marks.ErrUnusable) || ctx.Err() != nil {
			return err
		}
		s.log.Warn("the database could not be compared with the marks", "error", err)
		sleep(ctx, time.Second)
	}
}

// behind says why the database may be older than its marks; "" if it is not, or if no marks are kept.
func (s *Service) behind(ctx context.Context) (string, error) {
	if s.Guard == nil {
		return "", nil
	}
	return s.Guard.Behind(ctx)
}

// stopGuard records a clean shutdown: without that record, only some key indexes are skipped at the next start.
func (s *Service) stopGuard(ctx context.Context) {
	if s.Guard == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.Guard.Stop(ctx); err != nil {
		s.log.Warn("the shutdown could not be recorded in the marks", "error", err)
	}
}

// guarded runs a chain's workers once the database was compared with the marks under the lease.
func (s *Service) guarded(ctx context.Context, lease store.Lease, run func(context.Context, store.Lease) error) error {
	if s.Guard == nil {
		return run(ctx, lease)
	}
	end, err := s.Guard.BeginLease(ctx, lease.Chain)
	if err != nil {
		return fmt.Errorf("compare the database with the marks: %w", err)
	}
	defer end()
	return run(ctx, lease)
}

// gapAddresses derives deposit addresses that may have been issued and are missing from the database.
func (s *Service) gapAddresses(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
	var c chain.Chain
	for _, id := range s.order {
		if capabilities := s.workers[id].chain.Capabilities(); capabilities.Family == family && !capabilities.SharedAddress {
			c = s.workers[id].chain
		}
	}
	if c == nil {
		return nil, nil // tags of one address: a deposit with an unknown tag is unattributed
	}
	gaps := make([]store.GapAddress, n)
	for i := range gaps {
		index := from + uint32(i)
		pub, err := s.Keys.Public(chain.KeyRef{Family: family, Branch: chain.DepositBranch, Index: index})
		if err != nil {
			return nil, err
		}
		address, err := c.Address(pub, 0)
		if err != nil {
			return nil, err
		}
		gaps[i] = store.GapAddress{Index: index, Base: address.Base}
	}
	return gaps, nil
}

// keeperOf returns the keeper of a configuration's marks: beside the watch-only file, with the signer that has the
// seed, or beside the seed file.
func keeperOf(cfg config.Config, keys Keys) marks.Keeper {
	if cfg.Signer.WatchOnly != "" {
		return marks.NewFile(host.WatchOnlyMarks(cfg))
	}
	if a, apart := keys.(*remoteSigner); apart {
		return a.client.Marks()
	}
	return marks.NewFile(host.MarksFile(cfg))
}

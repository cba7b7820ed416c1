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
	"github.com/bursar/bursar/store"
)

// unexpiring is how long nothing is signed after a recovery began, on a chain whose transactions do not expire: what
// was sent before, at a fee of that time, is in a block by then.
var unexpiring = chain.Lifetime{Blocks: 12, Time: 30 * time.Minute}

// newGuard compares the database with the marks outside it, where such are kept.
func (s *Service) newGuard() {
	for id, w := range s.workers {
		w.follower.Externals.Own, w.follower.Wait = w.hot, unexpiring
		if s.parts.Marks == nil {
			continue
		}
		w.follower.Current = func() bool { return s.Guard.Leads(id) }
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

// startGuard compares the database with the marks before anything is paid or given out. A database that is away is
// waited for; marks that are missing or cannot be written are an error.
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

// behind says why the database may be older than the marks know it to be; "" where nothing does, or no marks are kept.
func (s *Service) behind(ctx context.Context) (string, error) {
	if s.Guard == nil {
		return "", nil
	}
	return s.Guard.Behind(ctx)
}

// stopGuard notes an end in order: without it, only some key indexes are skipped at the next start.
func (s *Service) stopGuard(ctx context.Context) {
	if s.Guard == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.Guard.Stop(ctx); err != nil {
		s.log.Warn("the end could not be noted in the marks", "error", err)
	}
}

// guarded runs what leads a chain once the database was compared with the marks under the lease.
func (s *Service) guarded(ctx context.Context, lease store.Lease, run func(context.Context, store.Lease) error) error {
	if s.Guard == nil {
		return run(ctx, lease)
	}
	end, err := s.Guard.Lead(ctx, lease.Chain)
	if err != nil {
		return fmt.Errorf("compare the database with the marks: %w", err)
	}
	defer end()
	return run(ctx, lease)
}

// gapAddresses derives deposit addresses that may have been given out and that the database has forgotten.
func (s *Service) gapAddresses(family bursar.Family, from uint32, n int) ([]store.GapAddress, error) {
	var c chain.Chain
	for _, id := range s.order {
		if capabilities := s.workers[id].chain.Capabilities(); capabilities.Family == family && !capabilities.SharedAddress {
			c = s.workers[id].chain
		}
	}
	if c == nil {
		return nil, nil // tags of one address: what comes with an unknown one is unattributed
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

// keeperOf returns where a configuration keeps its marks: with the signer that has the seed, or beside the seed file.
func keeperOf(cfg config.Config, keys Keys) marks.Keeper {
	if a, apart := keys.(*remoteSigner); apart {
		return a.client.Marks()
	}
	return marks.NewFile(MarksFile(cfg))
}

// MarksFile returns the path of the marks beside the seed file.
func MarksFile(cfg config.Config) string { return cfg.SeedFile + ".marks" }

package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
)

// newPool creates the pool of the configured chains and notifies it of every wallet that takes a key from it.
func (s *Service) newPool() {
	wake := make(chan struct{}, 1)
	s.Pool = &wallet.Pool{DB: s.DB, Keys: s.Keys, Log: s.log, Wake: wake}
	for _, id := range s.order {
		capabilities := s.workers[id].chain.Capabilities()
		if wallet.Pooled(capabilities) && !slices.Contains(s.Pool.Families, capabilities.Family) {
			s.Pool.Families = append(s.Pool.Families, capabilities.Family)
		}
	}
	s.Wallets.Pooled = func() { hint(wake) }
}

// primePool fills a first chunk of the pool before the first request is answered. If the database is unreachable, the
// pool is filled later; a pool of another seed is an error.
func (s *Service) primePool(ctx context.Context) error {
	err := s.Pool.Verify(ctx)
	if err == nil {
		err = s.Pool.Prime(ctx)
	}
	if errors.Is(err, wallet.ErrOtherPool) {
		return err
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("address pool not filled at startup", "error", err)
	}
	return nil
}

// PoolOf returns the pool of every family that needs one, whether its chain is configured or not, for commands. The
// pool has been compared with the seed.
func PoolOf(ctx context.Context, db *store.DB, cfg config.Config, keys Keys) (*wallet.Pool, error) {
	if err := pin(ctx, db, cfg, keys); err != nil {
		return nil, err
	}
	pool := &wallet.Pool{DB: db, Keys: keys, Families: signer.Families(chain.Ed25519)}
	if err := pool.Verify(ctx); err != nil {
		return nil, fmt.Errorf("%w: use the seed_file that this database was created with, or another database", err)
	}
	return pool, nil
}

var poolLeft = newGauge("address_pool_left",
	"Public keys ready for wallets of a family whose keys only the seed can derive.", "family")

func (m metrics) pool(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	for _, family := range m.service.Pool.Families {
		s, err := tx.KeyPool().State(ctx, family)
		if err != nil {
			return err
		}
		poolLeft.set(out, float64(s.Ready), string(family))
	}
	return nil
}

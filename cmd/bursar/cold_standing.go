package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
)

// askedFor is how long the nodes are asked of all refills together what blocks do not show.
const askedFor = 10 * time.Second

// standings returns what became of refills. Where a node does not answer, it is what the books say, with a warning.
func (c *call) standings(
	ctx context.Context, db *store.DB, cfg config.Config, list []store.Refill,
) (found []refill.Standing, err error) {
	ctx, end := context.WithTimeout(ctx, askedFor)
	defer end()
	services := map[bursar.ChainID]*refill.Service{}
	for _, r := range list {
		s, known := services[r.Chain]
		if !known {
			s = c.standingService(ctx, db, cfg, r.Chain)
			services[r.Chain] = s
		}
		one, err := s.Standing(ctx, r)
		if err != nil && one == "" {
			return nil, err
		}
		if err != nil {
			fmt.Fprintf(c.Stderr, "bursar: refill %s is %s by the books alone: %v\n", r.ID, one, err)
		}
		found = append(found, one)
	}
	return found, nil
}

// standingService asks the nodes of a chain, without any key; one that is not configured any more is not asked.
func (c *call) standingService(
	ctx context.Context, db *store.DB, cfg config.Config, id bursar.ChainID,
) *refill.Service {
	s := &refill.Service{DB: db}
	section, configured := cfg.Chains[id]
	if !configured {
		return s
	}
	connects := host.Connector{Network: cfg.Network, Registry: cfg.Registry, Log: slog.New(slog.DiscardHandler)}
	adapter, err := connects.Connect(ctx, section)
	if err != nil {
		fmt.Fprintf(c.Stderr, "bursar: refills of %s are shown by the books alone: %v\n", id, err)
		return s
	}
	s.Chain, _ = adapter.(refill.Chain)
	return s
}

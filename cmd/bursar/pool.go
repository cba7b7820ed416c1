package main

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
)

type seedCommands struct {
	command.Seed
	Pool seedPoolCommand `cmd:"" help:"Derive addresses ahead of time that only the seed can derive."`
}

type seedPoolCommand struct {
	Count int  `default:"10000" help:"Number of addresses to keep ready."`
	JSON  bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (seedPoolCommand) Help() string {
	return "Addresses of chains that sign with ed25519 (Solana) can only be derived from the seed. They are derived " +
		"ahead of time and stored in the database, so that creating a wallet does not need the seed. `bursar serve` keeps " +
		"the pool full if it has the seed; this command fills it by hand before a period without one.\n\nExample:\n\n    " +
		"bursar seed pool --count 100000"
}

// maxPool bounds what one call derives; that takes about half a minute.
const maxPool = 1_000_000

type listedPool struct {
	Family bursar.Family `json:"family"`
	Ready  uint32        `json:"ready"` // addresses available to wallets
	Next   uint32        `json:"next"`  // index of the next one
}

// Run fills the pools and prints their state.
func (cmd *seedPoolCommand) Run(ctx context.Context, c *call) error {
	if cmd.Count < 1 || cmd.Count > maxPool {
		return wrong("--count %d is not between 1 and %d", cmd.Count, maxPool)
	}
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := service.KeysOf(ctx, cfg, service.Options{Getenv: c.Getenv}) // checked before a database is created
	if err != nil {
		return err
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	pool, err := service.PoolOf(ctx, db, cfg, keys)
	if err != nil {
		return err
	}
	for _, family := range pool.Families {
		if err := pool.Fill(ctx, family, cmd.Count); err != nil {
			return err
		}
	}
	pools, err := listPools(ctx, db, pool)
	if err != nil {
		return err
	}
	return list(c, cmd.JSON, pools, "FAMILY READY NEXT", func(p listedPool) []any {
		return []any{p.Family, p.Ready, p.Next}
	})
}

func listPools(ctx context.Context, db *store.DB, pool *wallet.Pool) (pools []listedPool, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		for _, family := range pool.Families {
			s, err := tx.KeyPool().State(ctx, family)
			if err != nil {
				return err
			}
			pools = append(pools, listedPool{family, s.Ready, s.Next})
		}
		return nil
	})
	return pools, err
}

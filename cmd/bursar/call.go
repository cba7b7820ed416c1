package main

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/store"
)

// call is one run of the command with its inputs and outputs.
type call struct {
	command.Call
	did       store.Act // what this command is, for the log of acts
	names     accountNames
	rehearses bool // no transaction that writes commits
}

// database opens the configured database and migrates it. It needs no seed.
func (c *call) database(ctx context.Context) (*store.DB, config.Config, error) {
	cfg, err := c.Load()
	if err != nil {
		return nil, cfg, err
	}
	db, err := store.Open(ctx, store.Config{URL: cfg.Database.Reveal(), AsIs: c.rehearses})
	if err != nil {
		return nil, cfg, fmt.Errorf("the database cannot be used: %w", err)
	}
	c.witness(db)
	return db, cfg, nil
}

// accounts opens the database for work on accounts and keys that needs no seed. The caller closes it.
func (c *call) accounts(ctx context.Context) (*store.DB, *account.Service, error) {
	db, _, err := c.database(ctx)
	if err != nil {
		return nil, nil, err
	}
	return db, account.NewService(db, bursar.NewIDs(db.Now, nil)), nil
}

// service opens the database, the seed and the chains without running anything. The caller closes it.
func (c *call) service(ctx context.Context) (*service.Service, error) {
	cfg, err := c.Load()
	if err != nil {
		return nil, err
	}
	return c.serviceOf(ctx, cfg)
}

// serviceOf is service for a configuration that the command has changed.
func (c *call) serviceOf(ctx context.Context, cfg config.Config) (*service.Service, error) {
	opts := service.Options{Getenv: c.Getenv, WithoutSigner: true, Rehearsing: c.rehearses}
	s, err := service.Open(ctx, cfg, opts)
	if err == nil {
		c.witness(s.DB)
	}
	return s, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

// call is one run of the command with its inputs and outputs.
type call struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	config         string // --config; empty: not given
}

// getenv returns a variable of the environment, as os.Getenv.
func (c *call) getenv(name string) (value string) {
	for _, pair := range c.environ {
		if found, ok := strings.CutPrefix(pair, name+"="); ok {
			value = found
		}
	}
	return value
}

// note writes something for the operator that is not a result.
func (c *call) note(format string, args ...any) { fmt.Fprintf(c.stderr, format+"\n", args...) }

// load reads the configuration. If no file is named and the default file does not exist, the environment may hold all
// of it.
func (c *call) load() (config.Config, error) {
	path := c.config
	if path == "" {
		path = config.DefaultFile
	}
	cfg, err := config.Load(path, c.environ)
	if c.config == "" && errors.Is(err, fs.ErrNotExist) && config.HasSettings(c.environ) {
		cfg, err = config.Parse(path, nil, c.environ)
	}
	if err == nil {
		cfg, err = service.Canonical(cfg)
	}
	if err != nil {
		return config.Config{}, usageError{err}
	}
	return cfg, nil
}

// database opens the configured database and migrates it. It needs no seed.
func (c *call) database(ctx context.Context) (*store.DB, config.Config, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, cfg, err
	}
	db, err := store.Open(ctx, store.Config{URL: cfg.Database.Reveal()})
	if err != nil {
		return nil, cfg, fmt.Errorf("the database cannot be used: %w", err)
	}
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
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	return service.Open(ctx, cfg, service.Options{Getenv: c.getenv, WithoutSigner: true})
}

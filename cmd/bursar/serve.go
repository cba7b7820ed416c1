package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/command"
)

// stopWithin is a little less than the 30 seconds after which supervisors that sent SIGTERM usually send SIGKILL.
const stopWithin = 28 * time.Second

type serveCommand struct {
	command.LogFlags
}

// Help returns an example.
func (serveCommand) Help() string {
	return "Follows the chains, pays withdrawals, sends webhooks and answers the API until SIGTERM or SIGINT ends " +
		"it.\n\nExample:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar serve --config bursar.yaml --log-format json"
}

// Run serves until ctx ends.
func (cmd *serveCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	relaxCollector()
	log := cmd.Logger(c.Stderr)
	if !cfg.Signer.Remote() {
		if err := c.Protect(cfg, log); err != nil {
			return err
		}
	}
	for _, currency := range cfg.Registry.All() {
		if reason := cfg.Off[currency.Code]; reason != "" {
			log.Debug("currency disabled", "currency", currency.Code, "reason", reason)
		}
	}
	options := service.Options{Log: log, OpenKeys: c.OpenKeys(ctx), Patient: true}
	for ctx.Err() == nil {
		if err := serveEpoch(ctx, cfg, options); err != nil {
			return err
		}
	}
	return nil
}

// serveEpoch opens the service and runs it until ctx ends or its signer has begun another epoch, of which it knows
// nothing: opened again, it has the keys and the hot wallets of that one.
func serveEpoch(ctx context.Context, cfg config.Config, options service.Options) error {
	s, err := service.Open(ctx, cfg, options)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-s.NewEpoch():
			stop()
		case <-running.Done():
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	if err := waitFor(running, ended, options.Log); err != nil {
		return err
	}
	options.Log.Info("stopped")
	return s.Close()
}

// waitFor waits for the end of the service, for a limited time once ctx has ended.
func waitFor(ctx context.Context, ended <-chan error, log *slog.Logger) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		log.Info("stopping")
	}
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errors.New("the service did not stop in time; pending work resumes from the database at the next " +
			"start")
	}
}

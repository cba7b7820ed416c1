package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

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
	s, err := service.Open(ctx, cfg, service.Options{Log: log, OpenKeys: c.OpenKeys(ctx), Patient: true})
	if err != nil {
		return err
	}
	for _, currency := range cfg.Registry.All() {
		if reason := cfg.Off[currency.Code]; reason != "" {
			log.Debug("currency disabled", "currency", currency.Code, "reason", reason)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	if err := waitFor(ctx, ended, log); err != nil {
		return err
	}
	log.Info("stopped")
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

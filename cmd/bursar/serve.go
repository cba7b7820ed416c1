package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/bursar/bursar/service"
)

// stopWithin is a little less than the 30 seconds after which supervisors that sent SIGTERM usually send SIGKILL.
const stopWithin = 28 * time.Second

type serveCommand struct {
	logFlags
}

// logFlags are the logging flags of a long-running process.
type logFlags struct {
	LogFormat string `enum:"text,json" default:"text" help:"Format of log lines on standard error: text or json."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"Lowest level that is logged: debug, info, warn or error."`
}

// Help returns an example.
func (serveCommand) Help() string {
	return "Follows the chains, pays withdrawals, sends webhooks and answers the API until SIGTERM or SIGINT ends " +
		"it.\n\nExample:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar serve --config bursar.yaml --log-format json"
}

// Run serves until ctx ends.
func (cmd *serveCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	relaxCollector()
	log := cmd.logger(c.stderr)
	s, err := service.Open(ctx, cfg, service.Options{Log: log, Getenv: c.getenv, Patient: true})
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

func (cmd *logFlags) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(cmd.LogLevel)) != nil {
		level = slog.LevelInfo // kong has validated the value
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if cmd.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// readable formats durations with their unit, which JSON would lack.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type statusCommand struct {
	remote
	Ready bool `help:"Ask only whether the service is ready, without a key: for the health checks of containers."`
	acting
}

// Help returns what is asked, and an example.
func (statusCommand) Help() string {
	return "Asks a service over its API whether it is ready, whose key it is, and how long it takes to answer. Exits " +
		"with 1 if it is not ready or does not accept the key. On the service's own machine `bursar doctor` checks " +
		"everything that it needs.\n\nExample:\n\n    bursar status --profile test"
}

// statusWithin bounds the request about readiness.
const statusWithin = 15 * time.Second

// Run asks the service.
func (cmd *statusCommand) Run(ctx context.Context, c *call) error {
	if cmd.Ready {
		api := cmp.Or(cmd.API, c.Getenv("BURSAR_API"), localAPI)
		if err := ready(ctx, api); err != nil {
			return err
		}
		return c.Done(actFacts{"api": api, "ready": true}, "%s is ready", api)
	}
	at, err := cmd.target(c)
	if err != nil {
		return usage(err)
	}
	service, err := cmd.dial(c)
	if err != nil {
		return err
	}
	if err := ready(ctx, at.API); err != nil {
		return err
	}
	begun := time.Now()
	a, err := service.Account(ctx)
	if err != nil {
		return err
	}
	took := time.Since(begun).Round(time.Millisecond)
	return c.Done(actFacts{"api": at.API, "from": at.from, "ready": true, "accountID": a.AccountID,
		"milliseconds": took.Milliseconds()},
		"%s is ready and answers account %s within %s (by %s)", at.API, a.AccountID, took, at.from)
}

// ready asks whether a service can serve requests now, without the key.
func ready(ctx context.Context, api string) error {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(api, "/")+"/readyz", nil)
	if err != nil {
		return usage(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("the service does not answer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New("the service is not ready: it answers " + answer.Status)
	}
	return nil
}

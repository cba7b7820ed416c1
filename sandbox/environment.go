package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/control"
	"github.com/bursar/bursar/sandbox/receiver"
	"github.com/bursar/bursar/sandbox/screener"
	"github.com/bursar/bursar/sandbox/shop"
	"github.com/bursar/bursar/service"
)

// environment is a running sandbox.
type environment struct {
	flags settings
	dir   dataDir
	clock *clock
	log   *slog.Logger

	chains   []*chains.Chain // in the order of --chains
	receiver *receiver.Receiver
	screener *screener.Service // nil without --screening
	registry *bursar.Registry
	service  *service.Service // nil when the service is another process
	config   config.Config
	hot      map[bursar.ChainID]string
	account  control.Account
	control  *control.Server
	shop     *shop.Shop

	console     string       // its URL; empty: it is not served
	invitations []invitation // of people who have no passkey yet
}

// open starts everything except the service's loops and the miners, in the order of their dependencies.
func (s *environment) open(ctx context.Context) error {
	steps := []func(context.Context) error{s.openClock, s.openChains, s.openReceiver, s.openScreener, s.openService,
		s.openAccount, s.openPeople, s.payOperatorFunds, s.closeService, s.openControl, s.openShop}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *environment) openClock(context.Context) (err error) {
	s.clock, err = openClock(s.dir)
	return err
}

// openChains starts the nodes in parallel.
func (s *environment) openChains(ctx context.Context) error {
	started := make([]*chains.Chain, len(s.flags.chains))
	group, ctx := errgroup.WithContext(ctx)
	for i, id := range s.flags.chains {
		group.Go(func() (err error) {
			options := chains.Options{Manual: s.flags.manual, Endpoints: s.flags.endpoints, Log: s.log}
			if !s.dir.temporary {
				if options.DataDir, err = s.dir.chainDir(id); err != nil {
					return err
				}
			}
			started[i], err = chains.Start(ctx, id, options)
			return err
		})
	}
	err := group.Wait()
	s.chains = slices.DeleteFunc(started, func(c *chains.Chain) bool { return c == nil })
	return err
}

// openReceiver listens on the address of the earlier start, because existing wallets send their webhooks there; on a
// free one if that address is in use.
func (s *environment) openReceiver(ctx context.Context) (err error) {
	kept, err := s.dir.receiver()
	if err != nil {
		return err
	}
	if kept != "" {
		if s.receiver, err = receiver.Listen(ctx, kept, time.Now); err == nil {
			return nil
		}
		s.log.Warn("the webhook receiver's earlier address is in use: wallets of earlier starts do not reach "+
			"it", "error", err)
	}
	if s.receiver, err = receiver.Listen(ctx, receiver.Own, time.Now); err != nil {
		return err
	}
	return s.dir.write("receiver", []byte(s.receiver.Listening()+"\n"))
}

func (s *environment) openScreener(ctx context.Context) (err error) {
	if s.flags.screening {
		s.screener, err = screener.Listen(ctx, s.clock.Now)
	}
	return err
}

func (s *environment) openService(ctx context.Context) error {
	if err := s.dir.seed(); err != nil {
		return err
	}
	if s.flags.cold {
		if err := s.dir.cold(ctx, s.chains); err != nil {
			return err
		}
	}
	cfg, err := s.dir.configure(s.flags, s.chains, s.receiver.Address(), s.screener, os.Environ())
	if err != nil {
		return err
	}
	return s.openWith(ctx, cfg)
}

func (s *environment) openWith(ctx context.Context, cfg config.Config) error {
	var err error
	s.registry, s.config, s.hot = cfg.Registry, cfg, map[bursar.ChainID]string{}
	if s.service, err = service.Open(ctx, cfg, service.Options{Log: s.log, Getenv: getenv,
		Ahead: s.clock.Ahead}); err != nil {
		return fmt.Errorf("open the service: %w", err)
	}
	for _, c := range s.chains {
		s.hot[c.ID] = s.service.Hot(c.ID).Base
	}
	if s.flags.separateService {
		return nil
	}
	return orAnyPort(s.service.Listen())
}

// closeService closes the service that created the account, if another process is to serve.
func (s *environment) closeService(context.Context) error {
	if !s.flags.separateService {
		return nil
	}
	err := s.service.Close()
	s.service = nil
	return err
}

// orAnyPort adds to an error about a port how to have a free one picked.
func orAnyPort(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (port 0 chooses a free port: --listen 127.0.0.1:0 --admin 127.0.0.1:0 --control "+
		"127.0.0.1:0)", err)
}

func (s *environment) openControl(ctx context.Context) (err error) {
	s.control, err = control.Listen(ctx, s.flags.control, control.Config{
		Chains:     s.chains,
		Registry:   s.registry,
		Receiver:   s.receiver,
		Screener:   s.screener,
		Hot:        s.hot,
		NewAccount: s.newAccount,
		Notify:     s.notify,
		AccountID:  s.account.AccountID,
		API:        s.apiURL(),
		APIKey:     s.account.APIKey,
		Log:        s.log,
		Now:        s.clock.Now,
		Advance:    s.advance(),
	})
	return orAnyPort(err)
}

// advance returns what moves the clock, nil where the service is another process, which has its own.
func (s *environment) advance() func(by time.Duration) error {
	if s.flags.separateService {
		return nil
	}
	return s.clock.Advance
}

func (s *environment) openShop(ctx context.Context) error {
	api, err := client.New(client.Config{BaseURL: s.apiURL(), Key: s.account.APIKey})
	if err != nil {
		return err
	}
	var currencies []string
	for _, c := range s.chains {
		for _, currency := range s.registry.On(c.ID) {
			currencies = append(currencies, string(currency.Code))
		}
	}
	s.shop, err = shop.Listen(ctx, s.flags.shop, !s.flags.given["shop"], shop.Config{
		Service:       api,
		WebhookSecret: s.account.WebhookSecret,
		Control:       s.control.URL(),
		APIKey:        s.account.APIKey,
		Currencies:    currencies,
		Log:           s.log,
		Now:           time.Now,
	})
	return orAnyPort(err)
}

// run runs everything until ctx ends, and calls announce once the service answers.
func (s *environment) run(ctx context.Context, announce func() error) error {
	group, ctx := errgroup.WithContext(ctx)
	if !s.flags.separateService {
		group.Go(func() error { return s.service.Run(ctx) })
	}
	group.Go(func() error { return s.control.Run(ctx) })
	group.Go(func() error { return s.receiver.Run(ctx) })
	if s.screener != nil {
		group.Go(func() error { return s.screener.Run(ctx) })
	}
	group.Go(func() error { return s.shop.Run(ctx) })
	for _, c := range s.chains {
		group.Go(func() error { return c.Run(ctx) })
	}
	group.Go(func() error {
		if err := s.answers(ctx); err != nil {
			return err
		}
		return announce()
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// readyTimeout is how long the service may take from listening to being ready.
const readyTimeout = 2 * time.Minute

// answers waits until the service reports that it is ready.
func (s *environment) answers(ctx context.Context) error {
	if s.flags.separateService {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.service.Address("api")+"/readyz", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the service to be ready: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// close stops everything, the service before the nodes and the database that it uses.
func (s *environment) close() error {
	var errs []error
	if s.service != nil {
		errs = append(errs, s.service.Close())
	}
	for _, c := range s.chains {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

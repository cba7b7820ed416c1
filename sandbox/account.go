package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/sandbox/control"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// openAccount loads the account of an earlier start from the data directory, if this database has it, or creates one.
func (s *environment) openAccount(ctx context.Context) error {
	kept, err := s.dir.account()
	if err != nil {
		return err
	}
	if kept != nil {
		_, err := s.service.Accounts.Authenticate(ctx, account.Credentials{Key: kept.APIKey, Secret: kept.APISecret})
		if err == nil || errors.Is(err, account.ErrForbidden) { // the addresses only limit its use
			s.account = *kept
			return nil
		}
		if refused := (*bursar.Error)(nil); !errors.As(err, &refused) {
			return fmt.Errorf("find the account: %w", err)
		}
	}
	if s.account, err = s.newAccount(ctx, "sandbox", false); err != nil {
		return fmt.Errorf("create an account: %w", err)
	}
	return s.dir.keepAccount(s.account)
}

// newAccount creates an account with an API key, an API secret and a webhook secret, and with orders a key that signs
// its withdrawals.
func (s *environment) newAccount(ctx context.Context, name string, orders bool) (made control.Account, err error) {
	err = s.withService(ctx, func(of *service.Service) error {
		made, err = s.newAccountOf(ctx, of, name, orders)
		return err
	})
	return made, err
}

// notify has the service send events of an account's withdrawals, to a URL unless the account has one for its own
// events. It reports whether it did not before.
func (s *environment) notify(ctx context.Context, id bursar.ID, webhook string) (changed bool, err error) {
	err = s.withService(ctx, func(of *service.Service) error {
		var a bursar.Account
		err := of.DB.View(ctx, func(tx *store.Tx) (err error) {
			a, err = tx.Accounts().Get(ctx, id)
			return store.AsRefusal(err)
		})
		if err != nil || a.NotifyWithdrawals {
			return err
		}
		changed = true
		settings := account.Settings{NotifyWithdrawals: &changed,
			Receivers: netpolicy.Receivers{Networks: s.config.Webhooks.AllowNetworks}}
		if a.Webhook == "" {
			settings.Webhook = &webhook
		}
		_, err = of.Accounts.Set(ctx, id, settings)
		return err
	})
	return changed && err == nil, err
}

// withService does something with the service. Where that is another process, the database is opened for it alone, as
// the operator's commands do.
func (s *environment) withService(ctx context.Context, do func(of *service.Service) error) (err error) {
	if s.service != nil {
		return do(s.service)
	}
	opened, err := service.Open(ctx, s.config, service.Options{Log: s.log, Getenv: getenv, WithoutSigner: true,
		Ahead: s.clock.Ahead})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return do(opened)
}

func (s *environment) newAccountOf(
	ctx context.Context, of *service.Service, name string, orders bool,
) (control.Account, error) {
	issued, err := of.Accounts.Create(ctx, name, true)
	if err != nil {
		return control.Account{}, err
	}
	var made bursar.Account
	err = of.DB.View(ctx, func(tx *store.Tx) (err error) {
		made, err = tx.Accounts().Get(ctx, issued.AccountID)
		return err
	})
	if err != nil {
		return control.Account{}, err
	}
	secret := signer.WebhookSecretText(of.Keys.WebhookSecret(made.ID, made.WebhookGeneration))
	account := control.Account{
		AccountID:     issued.AccountID.String(),
		APIKey:        issued.APIKey,
		APISecret:     issued.APISecret,
		WebhookSecret: secret,
	}
	if orders {
		account.OrderKey, account.Instance, err = s.giveOrderKey(ctx, of, made.ID)
	}
	return account, err
}

// untilFinal is the number of blocks that makes a payment final on every chain here.
const untilFinal = 4

// payOperatorFunds pays operator funds to each hot wallet address that is empty, and makes the payment final at once,
// so that withdrawals never wait for gas.
func (s *environment) payOperatorFunds(context.Context) error {
	for _, c := range s.chains {
		native, found := s.registry.Asset(c.ID, "")
		if !found {
			return fmt.Errorf("chain %s has no native asset", c.ID)
		}
		hot := s.hot[c.ID]
		held, err := c.Balance(native, hot)
		if err != nil {
			return fmt.Errorf("look up the operator funds on %s: %w", c.ID, err)
		}
		if !held.IsZero() {
			continue
		}
		amount, err := native.Parse(c.OperatorFunds)
		if err != nil {
			return err
		}
		if err := c.PayNow(native, hot, amount, untilFinal); err != nil {
			return fmt.Errorf("pay the operator funds on %s: %w", c.ID, err)
		}
	}
	return nil
}

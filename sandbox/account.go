package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/sandbox/control"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// openAccount takes the account of an earlier start, if this database has it, or makes one.
func (s *environment) openAccount(ctx context.Context) error {
	kept, err := s.dir.account()
	if err != nil {
		return err
	}
	if kept != nil {
		_, err := s.service.Accounts.Authenticate(ctx, account.Credentials{Key: kept.APIKey, Secret: kept.APISecret})
		if err == nil || errors.Is(err, account.ErrForbidden) { // with a list of addresses it is the same account still
			s.account = *kept
			return nil
		}
		if refused := (*bursar.Error)(nil); !errors.As(err, &refused) {
			return fmt.Errorf("look for the account: %w", err)
		}
	}
	if s.account, err = s.newAccount(ctx, "sandbox"); err != nil {
		return fmt.Errorf("make an account: %w", err)
	}
	return s.dir.keepAccount(s.account)
}

// newAccount makes a customer with a key, a secret and the secret of its webhooks.
func (s *environment) newAccount(ctx context.Context, name string) (control.Account, error) {
	if s.service == nil {
		return s.newAccountBeside(ctx, name)
	}
	return newAccountOf(ctx, s.service, name)
}

// newAccountBeside opens the database for as long as it takes, as the operator's command does.
func (s *environment) newAccountBeside(ctx context.Context, name string) (made control.Account, err error) {
	opened, err := service.Open(ctx, s.config, service.Options{Log: s.log, Getenv: getenv})
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return newAccountOf(ctx, opened, name)
}

func newAccountOf(ctx context.Context, s *service.Service, name string) (control.Account, error) {
	issued, err := s.Accounts.Create(ctx, name, true)
	if err != nil {
		return control.Account{}, err
	}
	var made bursar.Account
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		made, err = tx.Accounts().Get(ctx, issued.AccountID)
		return err
	})
	if err != nil {
		return control.Account{}, err
	}
	secret := signer.WebhookSecretText(s.Keys.WebhookSecret(made.ID, made.WebhookGeneration))
	return control.Account{
		AccountID:     issued.AccountID.String(),
		APIKey:        issued.APIKey,
		APISecret:     issued.APISecret,
		WebhookSecret: secret,
	}, nil
}

// capital is what the operator puts in of each chain's coin, for gas and fees.
func capital(id bursar.ChainID) string {
	switch id {
	case bursar.Bitcoin:
		return "5"
	case bursar.Tron:
		return "5000" // a transfer of tokens burns up to some dozens
	}
	return "50"
}

// untilFinal is how many blocks make a payment final on every chain here.
const untilFinal = 4

// payCapital pays the operator's own money to each hot address that holds nothing, and makes it final at once, so that
// withdrawals never wait for gas.
func (s *environment) payCapital(context.Context) error {
	for _, c := range s.chains {
		native, found := s.registry.Asset(c.ID, "")
		if !found {
			return fmt.Errorf("chain %s has no coin of its own", c.ID)
		}
		hot := s.hot[c.ID]
		held, err := c.Balance(native, hot)
		if err != nil {
			return fmt.Errorf("look for the capital on %s: %w", c.ID, err)
		}
		if !held.IsZero() {
			continue
		}
		amount, err := native.Parse(capital(c.ID))
		if err != nil {
			return err
		}
		if err := c.PayNow(native, hot, amount, untilFinal); err != nil {
			return fmt.Errorf("pay the capital on %s: %w", c.ID, err)
		}
	}
	return nil
}

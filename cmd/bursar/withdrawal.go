package main

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

type withdrawalCommands struct {
	List    withdrawalListCommand    `cmd:"" help:"List withdrawals, newest first."`
	Show    withdrawalShowCommand    `cmd:"" help:"Show a withdrawal and where its money is."`
	Approve withdrawalApproveCommand `cmd:"" help:"Approve a withdrawal that waits for approval."`
	Reject  withdrawalRejectCommand  `cmd:"" help:"Reject a withdrawal that waits for approval and release its hold."`
	Cancel  withdrawalCancelCommand  `cmd:"" help:"Cancel a withdrawal that is not signed yet and release its hold."`
}

type withdrawalListCommand struct {
	Account bursar.ID `type:"account" placeholder:"ACCOUNT" help:"List only withdrawals of this account."`
	Status  string    `enum:",pending_approval,queued,signed,broadcast,confirmed,rejected,cancelled,failed" default:"" help:"List only withdrawals with this status."`
	Limit   int       `default:"100" help:"Maximum number of withdrawals, 1 to 10000."`
	JSON    bool      `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (withdrawalListCommand) Help() string {
	return "The statuses are pending_approval, queued, signed, broadcast, confirmed, rejected, cancelled and failed." +
		"\n\nExample:\n\n    bursar withdrawal list --status pending_approval"
}

const (
	maxListed = 10_000
	pageSize  = 500
)

type listedWithdrawal struct {
	AccountID bursar.ID `json:"accountID"`
	wire.Withdrawal
}

// Run lists withdrawals.
func (cmd *withdrawalListCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 1 || cmd.Limit > maxListed {
		return wrong("--limit must be between 1 and %d", maxListed)
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := cmd.find(ctx, db)
	if err != nil {
		return err
	}
	listed := make([]listedWithdrawal, len(found))
	for i, w := range found {
		currency, err := cfg.Registry.Get(w.Currency)
		if err != nil {
			return fmt.Errorf("withdrawal %s is in %s, which is not configured: add it to the configuration again", w.ID,
				w.Currency)
		}
		listed[i] = listedWithdrawal{w.AccountID, wire.NewWithdrawal(w, currency)}
	}
	return list(c, cmd.JSON, listed, "WITHDRAWAL CREATED ACCOUNT CURRENCY AMOUNT FEE ADDRESS STATUS",
		func(w listedWithdrawal) []any {
			return []any{w.WithdrawalID, w.CreatedAt, w.AccountID, w.Currency, w.Amount, w.Fee, w.Address, w.Status}
		})
}

// find reads page by page until it has enough withdrawals of the wanted status.
func (cmd *withdrawalListCommand) find(ctx context.Context, db *store.DB) ([]bursar.Withdrawal, error) {
	var found []bursar.Withdrawal
	page := store.Page{Limit: pageSize}
	for {
		var next []bursar.Withdrawal
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			next, err = tx.Withdrawals().List(ctx, cmd.Account, page)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, w := range next {
			if cmd.Status == "" || string(w.Status) == cmd.Status {
				found = append(found, w)
			}
			if len(found) == cmd.Limit {
				return found, nil
			}
			page.Before = w.Number
		}
		if len(next) < page.Limit {
			return found, nil
		}
	}
}

type withdrawalApproveCommand struct {
	ID bursar.ID `arg:"" placeholder:"WITHDRAWAL" help:"ID of the withdrawal."`
	final
}

// Help returns an example.
func (withdrawalApproveCommand) Help() string {
	return "Example:\n\n    bursar withdrawal approve 0193a6a0-0000-7000-8000-000000000000"
}

// Run approves a withdrawal.
func (cmd *withdrawalApproveCommand) Run(ctx context.Context, c *call) error {
	return c.decide(ctx, cmd.ID, func(s *service.Service) (bursar.Withdrawal, error) {
		return s.Withdrawals.Approve(ctx, cmd.ID)
	})
}

type withdrawalRejectCommand struct {
	ID     bursar.ID `arg:"" placeholder:"WITHDRAWAL" help:"ID of the withdrawal."`
	Reason string    `required:"" help:"Reason, as the customer sees it."`
	final
}

// Help returns an example.
func (withdrawalRejectCommand) Help() string {
	return "Example:\n\n    bursar withdrawal reject 0193a6a0-0000-7000-8000-000000000000 --reason \"the destination " +
		"is on a sanctions list\""
}

// Run rejects a withdrawal.
func (cmd *withdrawalRejectCommand) Run(ctx context.Context, c *call) error {
	return c.decide(ctx, cmd.ID, func(s *service.Service) (bursar.Withdrawal, error) {
		return s.Withdrawals.Reject(ctx, cmd.ID, cmd.Reason)
	})
}

type withdrawalCancelCommand struct {
	ID bursar.ID `arg:"" placeholder:"WITHDRAWAL" help:"ID of the withdrawal."`
	final
}

// Help returns an example.
func (withdrawalCancelCommand) Help() string {
	return "Example:\n\n    bursar withdrawal cancel 0193a6a0-0000-7000-8000-000000000000"
}

// Run cancels a withdrawal.
func (cmd *withdrawalCancelCommand) Run(ctx context.Context, c *call) error {
	return c.decide(ctx, cmd.ID, func(s *service.Service) (bursar.Withdrawal, error) {
		return s.Withdrawals.Cancel(ctx, cmd.ID)
	})
}

// decide approves, rejects or cancels a withdrawal whose chain is configured: an approved withdrawal may turn out to be
// internal, which only its chain's adapter can determine.
func (c *call) decide(ctx context.Context, id bursar.ID, f func(*service.Service) (bursar.Withdrawal, error)) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		w, err := tx.Withdrawals().Lock(ctx, id)
		if err != nil {
			return err
		}
		currency, err := s.Registry.Get(w.Currency)
		if err != nil {
			return err
		}
		if _, on := s.Chain(currency.Chain); !on {
			return fmt.Errorf("chain %s of this withdrawal is not configured: configure it first", currency.Chain)
		}
		return nil
	})
	var w bursar.Withdrawal
	if err == nil {
		w, err = f(s)
	}
	if err != nil {
		return named(err, "there is no withdrawal %s: see `bursar withdrawal list`", id)
	}
	return c.Done(actFacts{"withdrawalID": w.ID, "status": w.Status}, "withdrawal %s is %s", w.ID, w.Status)
}

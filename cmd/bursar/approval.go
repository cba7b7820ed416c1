package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/sshsig"
)

type approvalCommands struct {
	List approvalListCommand `cmd:"" help:"List payments that wait for approvals of persons."`
	Add  approvalAddCommand  `cmd:"" help:"Add approvals that persons signed."`
}

type approvalListCommand struct {
	JSON bool `name:"json" help:"Print a JSON object, as bursar-approve reads it."`
}

// Help returns an example.
func (approvalListCommand) Help() string {
	return "Lists what the signer does not sign before persons of its policy have approved it. With --json it prints " +
		"the orders as they are to be signed, for approvers who cannot reach the operator's listener.\n\nExample:\n\n" +
		"    bursar approval list --json > waiting.json"
}

// Run lists payments that wait for approvals.
func (cmd *approvalListCommand) Run(ctx context.Context, c *call) error {
	r, err := c.relay(ctx)
	if err != nil {
		return err
	}
	defer r.DB.Close()
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return c.PrintJSON(waiting)
	}
	if waiting.Policy == "" {
		c.Note("The signer has no policy that people signed: nothing waits for them.")
	}
	return list(c, false, waiting.Orders, "ORDER CHAIN ASSET UNITS ADDRESS APPROVALS REASON", func(one relay.Order) []any {
		o, err := approval.ParseOrder(one.Text)
		if err != nil {
			return []any{"unreadable", "", "", "", "", "", err}
		}
		return []any{o.ID, o.Chain, approval.AssetText(o.Contract), o.Units, o.To, len(one.Approvals), one.Reason}
	})
}

type approvalAddCommand struct {
	Files []string `arg:"" placeholder:"FILE" help:"Files that bursar-approve wrote: each a text with its signatures."`
	acting
}

// Help returns an example.
func (approvalAddCommand) Help() string {
	return "The service then shows the approvals to the signer, which evaluates them.\n\nExample:\n\n" +
		"    bursar approval add approval-ann.txt approval-bob.txt"
}

// Run adds approvals.
func (cmd *approvalAddCommand) Run(ctx context.Context, c *call) error {
	r, err := c.relay(ctx)
	if err != nil {
		return err
	}
	defer r.DB.Close()
	for _, path := range cmd.Files {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the approval: %w", err)
		}
		text, signatures, err := sshsig.Split(string(content))
		if err == nil && len(signatures) == 0 {
			err = wrong("it has no signature")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, s := range signatures {
			who, a, err := r.Add(ctx, text, s)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if err := c.Say("%s says %s to order %s", who, a.Decision, a.Order.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// relay returns what carries approvals, over the configured database, which the caller closes.
func (c *call) relay(ctx context.Context) (*relay.Relay, error) {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return nil, err
	}
	registry, err := host.Usable(cfg)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &relay.Relay{DB: db, Registry: registry}, nil
}

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

type accountFreezeCommand struct {
	ID bursar.ID `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	begin
	acting
}

// Help returns an example.
func (accountFreezeCommand) Help() string {
	return "Refuses the account's withdrawals, including those to other accounts of this service. Withdrawals that are " +
		"queued or wait for approval are not signed; those that are signed already are sent. Its deposits are " +
		"credited.\n\nExample:\n\n    bursar account freeze 0193a6a0-0000-7000-8000-000000000000 --reason 'a report of theft'"
}

// Run freezes an account.
func (cmd *accountFreezeCommand) Run(ctx context.Context, c *call) error {
	return unknownAccount(c.halt(ctx, store.HaltAccount(cmd.ID), cmd.begin), cmd.ID)
}

type accountUnfreezeCommand struct {
	ID   bursar.ID      `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	Kind store.HaltKind `name:"reason-kind" enum:",operator,reversal,refund_reversal,all" default:"" help:"Reason to lift if there are several: operator, reversal, refund_reversal or all."`
	end
	acting
}

// Help returns an example.
func (accountUnfreezeCommand) Help() string {
	return "An account is frozen by an operator, when a credited deposit was reorged out (reversal), or when it has " +
		"spent a refund whose failed payment was reorged out (refund_reversal). Check its balance first. If there are " +
		"several reasons, name the one to lift.\n\nExample:\n\n" +
		"    bursar account unfreeze 0193a6a0-0000-7000-8000-000000000000"
}

// Run lifts the freeze.
func (cmd *accountUnfreezeCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	scope := store.HaltAccount(cmd.ID)
	var before, left []store.Halt
	err = db.Do(ctx, func(tx *store.Tx) error {
		if _, err = tx.Accounts().Lock(ctx, cmd.ID); err != nil {
			return err
		}
		if before, err = tx.Halts().Of(ctx, scope); err != nil {
			return err
		}
		kinds, err := cmd.lifts(before)
		if err != nil {
			return err
		}
		if err := endKinds(ctx, tx, scope, cmd.end, kinds); err != nil {
			return err
		}
		left, err = tx.Halts().Of(ctx, scope)
		return err
	})
	if err != nil {
		return unknownAccount(err, cmd.ID)
	}
	return cmd.report(c, before, left)
}

// lifts returns the kinds to lift; several need to be named.
func (cmd *accountUnfreezeCommand) lifts(halts []store.Halt) (kinds []store.HaltKind, err error) {
	for _, h := range halts {
		if (cmd.Kind == "" || cmd.Kind == "all" || cmd.Kind == h.Kind) && !slices.Contains(kinds, h.Kind) {
			kinds = append(kinds, h.Kind)
		}
	}
	if cmd.Kind == "" && len(kinds) > 1 {
		return nil,
			wrong("account %s is frozen for several reasons: %s; name the one to lift with --reason-kind, or --reason-kind all",
				cmd.ID, reasonsOf(halts))
	}
	return kinds, nil
}

func (cmd *accountUnfreezeCommand) report(c *call, before, left []store.Halt) error {
	ended := slices.DeleteFunc(slices.Clone(before), func(h store.Halt) bool {
		return slices.ContainsFunc(left, func(other store.Halt) bool { return other.Number == h.Number })
	})
	switch {
	case len(before) == 0:
		return c.Say("account %s was not frozen", cmd.ID)
	case len(left) == 0:
		return c.Say("account %s may withdraw again; it was frozen because %s", cmd.ID, reasonsOf(ended))
	case len(ended) > 0:
		return fmt.Errorf("account %s is still frozen because %s; lifted: %s", cmd.ID, reasonsOf(left), reasonsOf(ended))
	}
	return fmt.Errorf("account %s is still frozen because %s", cmd.ID, reasonsOf(left))
}

package main

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

type chainHaltCommand struct {
	Chain bursar.ChainID `arg:"" help:"The chain, such as ethereum."`
	begin
}

// Help returns an example.
func (chainHaltCommand) Help() string {
	return haltHelp + "Example:\n\n    bursar chain halt polygon --reason 'a fork is reported'"
}

// Run halts a chain.
func (cmd *chainHaltCommand) Run(ctx context.Context, c *call) error {
	if err := c.configuredChain(cmd.Chain); err != nil {
		return err
	}
	return c.halt(ctx, store.HaltChain(cmd.Chain), cmd.begin)
}

// configuredChain refuses a chain that the configuration does not know: halting it would halt nothing.
func (c *call) configuredChain(id bursar.ChainID) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if _, on := cfg.Chains[id]; !on {
		return wrong("chain %q is not configured", id)
	}
	return nil
}

type chainResumeCommand struct {
	Chain bursar.ChainID `arg:"" help:"The chain, such as ethereum."`
	end
}

// Help returns an example.
func (chainResumeCommand) Help() string {
	return "A chain is halted by an operator, or when somebody else has used one of its keys. Find out who before you let the service pay again.\n\n" +
		"Example:\n\n    bursar chain resume ethereum"
}

// maxAlarms bounds how many alarms are looked through.
const maxAlarms = 10_000

// resumable are the kinds of halts that an operator ends for a chain.
var resumable = []store.HaltKind{store.HaltByOperator, store.HaltByExternalSpend, store.HaltByDeadReturn}

// Run lifts a halt and closes the alarms that came with it.
func (cmd *chainResumeCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	_, stateErr := chainState(ctx, db, cmd.Chain)
	if stateErr == nil {
		err = db.Do(ctx, func(tx *store.Tx) error { return closeAlarms(ctx, tx, cmd.Chain) })
	}
	if err := errors.Join(stateErr, err, db.Close()); err != nil {
		return err
	}
	return c.resume(ctx, store.HaltChain(cmd.Chain), cmd.end, resumable...)
}

// closeAlarms resolves the alarms that came with a chain's halt.
func closeAlarms(ctx context.Context, tx *store.Tx, id bursar.ChainID) error {
	alarms, err := tx.Alarms(ctx, maxAlarms)
	for _, a := range alarms {
		if a.Chain == id && haltKinds[a.Kind] {
			err = errors.Join(err, tx.Resolve(ctx, a.Kind, a.Ref))
		}
	}
	return err
}

// haltKinds are the alarms that halt a chain.
var haltKinds = map[string]bool{"foreign_spend": true, "foreign_nonce": true, "abandoned_included": true}

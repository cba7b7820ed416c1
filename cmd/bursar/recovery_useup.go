package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
)

type recoveryUseUpCommand struct {
	Chain   bursar.ChainID `arg:"" placeholder:"CHAIN" help:"Chain of the address."`
	Address string         `arg:"" placeholder:"ADDRESS" help:"Address of yours whose nonces are lost."`
	Nonces  int            `required:"" placeholder:"N" help:"How many nonces are lost, as the alarm nonce_lost says."`
	Reason  string         `required:"" placeholder:"TEXT" help:"How you know, for the record."`
	actor
	final
}

// Help says when the command is needed.
func (recoveryUseUpCommand) Help() string {
	return "The service uses up lost nonces by itself, up to 100 of an address: a reorganisation loses fewer. More of " +
		"them may mean that somebody has changed the database. Each costs a network fee, and until the last is used " +
		"nothing is paid from a hot wallet: first compare the number with what an explorer shows of the address. Nothing " +
		"is done unless exactly N nonces are lost.\n\nExample:\n\n    bursar recovery use-up ethereum " +
		"0x8ba1f109551bD432803012645Ac136ddd64DBA72 --nonces 140 --reason 'the explorer shows 412 transactions' --dry-run"
}

// Run has the nonces used up.
func (cmd *recoveryUseUpCommand) Run(ctx context.Context, c *call) error {
	if cmd.Nonces < 1 {
		return wrong("--nonces must be at least 1")
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	lowest, highest, err := s.UseUpNonces(ctx, cmd.Chain, outgoing.UseUp{
		Base:   cmd.Address,
		Nonces: cmd.Nonces,
		Reason: cmd.Reason,
		Actor:  cmd.Name(),
	})
	what := fmt.Sprintf("%d nonces of %s are used up, from %d to %d", cmd.Nonces, cmd.Address, lowest, highest)
	if c.rehearses && errors.Is(err, errRehearsed) {
		return foreseen{what}
	}
	if err != nil {
		return err
	}
	return c.Done(actFacts{"chain": cmd.Chain, "address": cmd.Address, "nonces": cmd.Nonces, "lowest": lowest,
		"highest": highest}, "%s; the service sends what uses them up", what)
}

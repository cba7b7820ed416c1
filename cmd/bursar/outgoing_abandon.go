package main

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/service"
)

type outgoingAbandonCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"ID of the outgoing transaction."`
	Reason string    `required:"" placeholder:"TEXT" help:"Why, for whoever looks at it later."`
	actor
}

// Help returns an example.
func (outgoingAbandonCommand) Help() string {
	return "Orders another transaction that takes the same UTXOs home at a higher fee, or that takes the same nonce. " +
		"At most one of the two can ever " +
		"be included: what the first pays is paid again once the other is final, and if the first is included after all, " +
		"it counts. Nobody is paid twice. " +
		"On an EVM chain only a transaction can be abandoned whose bytes are not known (alarm bytes_unknown); others are " +
		"bumped until they are " +
		"included.\n\nExample:\n\n" +
		"    bursar outgoing abandon 0193a6a0-0000-7000-8000-000000000000 --reason 'stuck since Monday, no node takes it'"
}

// Run has an outgoing transaction made void.
func (cmd *outgoingAbandonCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	s, err := service.Open(ctx, cfg, service.Options{Getenv: c.getenv})
	if err != nil {
		return err
	}
	defer s.Close()
	by, err := s.AbandonOutgoing(ctx, cmd.ID, outgoing.Abandonment{Reason: cmd.Reason, Actor: cmd.name()})
	if err != nil {
		return named(err, "there is no outgoing transaction %s", cmd.ID)
	}
	return c.say("outgoing transaction %s is being made void by %s, which the service sends", cmd.ID, by)
}

package main

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
)

type outgoingAbandonCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"ID of the outgoing transaction."`
	Reason string    `required:"" placeholder:"TEXT" help:"Reason, for the record."`
	actor
	final
}

// Help returns an example.
func (outgoingAbandonCommand) Help() string {
	return "Requests a replacement that sends the same UTXOs to the hot wallet at a higher fee, or that uses the same " +
		"nonce. At most one of the two can ever be included: what the first pays is paid again once the replacement is " +
		"final; if the first is included after all, it is the payment. Nobody is paid twice. On an EVM chain only a " +
		"transaction whose bytes are unknown (alarm bytes_unknown), one that the alarm journal_differs names, or one of " +
		"the hot wallet of an earlier epoch, can be abandoned; others are bumped until they are included. One that is not " +
		"stored as signed can be abandoned while the alarm may_be_out names it. One that uses up a lost nonce ends " +
		"without a replacement, if the final block has used that nonce.\n\nExample:\n\n    " +
		"bursar outgoing abandon 0193a6a0-0000-7000-8000-000000000000 " +
		"--reason 'stuck since Monday, no node takes it'"
}

// Run abandons an outgoing transaction.
func (cmd *outgoingAbandonCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	by, err := s.AbandonOutgoing(ctx, cmd.ID, outgoing.Abandonment{Reason: cmd.Reason, Actor: cmd.Name()})
	if err != nil {
		return named(err, "there is no outgoing transaction %s", cmd.ID)
	}
	if by.IsZero() {
		return c.Done(actFacts{"outgoingID": cmd.ID}, "outgoing transaction %s has ended: its nonce was used before", cmd.ID)
	}
	return c.Done(actFacts{"outgoingID": cmd.ID, "replacedBy": by},
		"outgoing transaction %s is being replaced by %s, which the service sends", cmd.ID, by)
}

package main

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
)

type recoveryDenyCommand struct {
	Withdrawal bursar.ID `arg:"" placeholder:"WITHDRAWAL" help:"Withdrawal that is held, from the alarm about it."`
	Hash       string    `arg:"" placeholder:"HASH" help:"Hash of the transaction that did not pay it, as a whole."`
	Reason     string    `required:"" placeholder:"TEXT" help:"Reason, for the record: what it paid instead."`
	actor
	final
}

// Help says what must be known before a payment is denied.
func (recoveryDenyCommand) Help() string {
	return "Only for a withdrawal whose transaction can never be included, and which is not paid again because another " +
		"transaction made the same payment: same address, same amount. Say it only if you know what that transaction " +
		"paid, such as a payment of your own: the withdrawal is paid by another transaction then. If that transaction was " +
		"the withdrawal's, say that with `bursar recovery adopt` instead; otherwise it is paid twice.\n\nExample:\n\n    " +
		"bursar recovery deny 0193a6a0-0000-7000-8000-000000000000 4a5e1e4b… --reason \"our own payment of " +
		"2 May to the same supplier\""
}

// Run records that the payment was another one.
func (cmd *recoveryDenyCommand) Run(ctx context.Context, c *call) error {
	if strings.TrimSpace(cmd.Reason) == "" {
		return wrong("--reason must say what the transaction paid")
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.Deny(ctx, recovery.Denial{Withdrawal: cmd.Withdrawal, TxID: cmd.Hash, Note: cmd.Reason, Actor: cmd.Name()})
	if err != nil {
		return named(err, "there is no withdrawal %s", cmd.Withdrawal)
	}
	return c.Done(actFacts{"withdrawalID": cmd.Withdrawal, "txID": cmd.Hash}, "transaction %s did not pay withdrawal %s, "+
		"which is paid by another transaction unless something else holds it", cmd.Hash, cmd.Withdrawal)
}

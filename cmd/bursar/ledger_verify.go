package main

import (
	"context"
	"fmt"
)

type ledgerVerifyCommand struct{}

// Help returns an example.
func (ledgerVerifyCommand) Help() string {
	return "Reads the whole hash chain with the key that follows from the seed, adds every posting up and holds the " +
		"sums against the balances, as the service does all the time. " +
		"Exits with 1 where the books contradict themselves. It may run beside the service.\n\nExample:\n\n    bursar " +
		"ledger verify"
}

// Run verifies the books from the first link to the last.
func (cmd *ledgerVerifyCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	links, faults, err := s.Auditor.VerifyAll(ctx)
	if err != nil {
		return err
	}
	for _, f := range faults {
		if err := c.say("%s: %s", f.Kind, f.Message); err != nil {
			return err
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("the books contradict themselves in %d ways; see docs/operations/solvency.md", len(faults))
	}
	return c.say("the books hold: %d links, every entry, every balance", links)
}

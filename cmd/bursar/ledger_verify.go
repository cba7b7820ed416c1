package main

import (
	"context"
	"fmt"
)

type ledgerVerifyCommand struct {
	acting
}

// Help returns an example.
func (ledgerVerifyCommand) Help() string {
	return "Reads the whole hash chain with the key derived from the seed, sums every posting and compares the " +
		"sums with the balances, as the service does continuously. " +
		"Exits with 1 if the books are inconsistent. It may run beside the service.\n\nExample:\n\n    bursar " +
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
		if err := c.Say("%s: %s", f.Kind, f.Message); err != nil {
			return err
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("the books have %d faults; see docs/operations/solvency.md", len(faults))
	}
	return c.Say("the books are consistent: %d links, every entry, every balance", links)
}

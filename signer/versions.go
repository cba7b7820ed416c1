package signer

import (
	"context"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// How many transactions that exclude each other are signed. A benign service replaces a transaction every few blocks,
// each time for a higher fee, until max_fee.
const (
	versionsInHour = 60
	versionsInWeek = 300
)

// How long a digest is kept at least, and how many older ones each signature removes.
const (
	keptFor      = longest + 24*time.Hour
	forgetAtOnce = 8
)

// fewVersions refuses the next of many transactions that replace each other.
//
// The attack: replacements that cost no more count nothing, so anyone who controls the service has them signed without
// end, and the state fills the disk.
func fewVersions(ctx context.Context, tx memory.Tx, c *check, before *memory.Flow, now time.Time) error {
	if before == nil {
		return nil
	}
	for _, bound := range []struct {
		length time.Duration
		name   string
		most   int
	}{{time.Hour, "hour", versionsInHour}, {longest, "week", versionsInWeek}} {
		n, err := tx.SignedSince(ctx, before.ID, now.Add(-bound.length))
		if err != nil {
			return err
		}
		if n >= bound.most {
			return c.refuse(ReasonVersions, "%d transactions of which only one can be included were signed within this %s",
				n, bound.name)
		}
	}
	return nil
}

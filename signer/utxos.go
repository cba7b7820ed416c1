package signer

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// oneAmount refuses an unsigned transaction that says of an outpoint another amount or script than an earlier one that
// was signed, and returns the outpoints that are not remembered yet.
//
// The attack (of the class of CVE-2020-14199): a signature of segwit version 0 commits to the amount of its own input
// only. Anyone who controls the service asks twice for the same transaction, each time with the true amount of one
// input and a small one of the other, so that the fee seems small. The good signatures of the two make a valid
// transaction that gives the difference to a miner.
func oneAmount(ctx context.Context, tx memory.Tx, c *check, now time.Time) (unknown []memory.UTXO, err error) {
	if c.bounds.Capabilities.Model != chain.UTXOModel {
		return nil, nil
	}
	for _, input := range c.contents.Inputs {
		seen, found, err := tx.UTXO(ctx, c.bounds.Capabilities.ID, input.Outpoint)
		switch {
		case err != nil:
			return nil, err
		case !found:
			unknown = append(unknown, memory.UTXO{Outpoint: input.Outpoint, Amount: input.Amount, Script: input.Source.Base,
				FirstSeen: now})
		case seen.Amount != input.Amount || seen.Script != input.Source.Base:
			return nil, c.refuse(ReasonOutpoint, "%s is said to hold %s at %s, but %s at %s was signed for it on %s: "+
				"the service may be in other hands", input.Outpoint, input.Amount, input.Source.Base, seen.Amount, seen.Script,
				memory.Minute(seen.FirstSeen))
		}
	}
	return unknown, nil
}

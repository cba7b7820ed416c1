package signer

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// write remembers a transaction that passed every rule. It gives a new flow its ID.
func write(
	ctx context.Context, tx memory.Tx, c *check, f *memory.Flow, agreed agreement, unknown []memory.UTXO,
	digest memory.Digest, now time.Time,
) (entry memory.Entry, err error) {
	id := c.bounds.Capabilities.ID
	for _, u := range unknown {
		if err := tx.AddUTXO(ctx, id, u); err != nil {
			return entry, err
		}
	}
	if f.ID == 0 {
		f.ID, err = tx.AddFlow(ctx, *f)
	} else {
		err = tx.UpdateFlow(ctx, *f)
	}
	if err != nil {
		return entry, err
	}
	if err := tx.AddSigned(ctx, f.ID, id, digest, now); err != nil {
		return entry, err
	}
	if _, err := tx.Forget(ctx, now.Add(-keptFor), forgetAtOnce); err != nil {
		return entry, err
	}
	if err := agreed.write(ctx, tx, f.ID, now); err != nil {
		return entry, err
	}
	if err := tx.SetHighWater(ctx, now); err != nil {
		return entry, err
	}
	detail, err := c.detail(f.ID, digest)
	if err != nil {
		return entry, err
	}
	detail.Allowed, detail.Ordered = allowed(agreed.grants), signedOrders(agreed.orders)
	text, err := json.Marshal(detail)
	if err != nil {
		return entry, err
	}
	return tx.Append(ctx, now, memory.KindSigned, string(text))
}

// notSetBack refuses to sign with a memory that is older than what a service has seen of it.
//
// The attack: anyone who restores an older copy of the state file, in good faith too, makes the signer forget what it
// signed since, and with that what its windows hold and what UTXOs are worth.
func (e *evaluator) notSetBack(ctx context.Context, tx memory.Tx, c *check) error {
	e.logMu.Lock()
	known := e.known
	e.logMu.Unlock()
	if known.Number == 0 {
		return nil
	}
	entry, found, err := tx.Entry(ctx, known.Number)
	if err != nil {
		return err
	}
	hash, err := hex.DecodeString(known.Hash)
	if found && err == nil && bytes.Equal(hash, entry.Hash[:]) {
		return nil
	}
	newest, err := tx.Head(ctx)
	if err != nil {
		return err
	}
	return c.refuse(ReasonSetBack, "the service has seen entry %d of the signer's log, and the state file does not hold "+
		"it: it ends at %d and is an older copy. Find out who set it back, then `bursar signer begin-again`",
		known.Number, newest.Number)
}

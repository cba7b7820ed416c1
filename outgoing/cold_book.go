package outgoing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// coldAtOnce is how many spends from cold wallets one transaction books.
const coldAtOnce = 50

// Begin implements follow.Creditor.
func (c *ColdSpends) Begin(context.Context, store.Lease) {}

// AnyDue implements follow.Creditor: it reports whether a spend is final and not booked.
func (c *ColdSpends) AnyDue(ctx context.Context, tx *store.Tx, at follow.Finality) (bool, error) {
	if idle, err := c.idle(ctx, tx); idle || err != nil {
		return false, err
	}
	due, err := tx.Cold().SpendsDue(ctx, c.Capabilities.ID, at.Final, 1)
	return len(due) > 0, err
}

// Credit implements follow.Creditor: it books final spends, each once for each time that its block became final.
func (c *ColdSpends) Credit(ctx context.Context, tx *store.Tx, at follow.Finality) (booked int, more bool, err error) {
	if idle, err := c.idle(ctx, tx); idle || err != nil {
		return 0, false, err
	}
	due, err := tx.Cold().SpendsDue(ctx, c.Capabilities.ID, at.Final, coldAtOnce)
	if err != nil {
		return 0, false, err
	}
	var entries []ledger.Entry
	for _, x := range due {
		e, err := c.entryOf(ctx, tx, x, ledger.ColdSpent)
		if err != nil {
			return 0, false, err
		}
		if len(e.Postings) > 0 {
			entries = append(entries, e)
		}
		x.Booked = true
		if err := tx.Cold().SetSpend(ctx, x); err != nil {
			return 0, false, err
		}
	}
	return len(due), len(due) == coldAtOnce, tx.Ledger().Post(ctx, entries...)
}

// idle reports whether there is nothing to book or to take back: no cold wallet is configured, and none ever was. What
// a wallet that has left the configuration spent before is booked nevertheless.
func (c *ColdSpends) idle(ctx context.Context, tx *store.Tx) (bool, error) {
	if len(c.Bases) > 0 || c.unused.Load() {
		return len(c.Bases) == 0, nil
	}
	used, err := tx.Cold().Any(ctx, c.Capabilities.ID)
	c.unused.Store(err == nil && !used)
	return !used, err
}

// Undo takes back what Apply and Credit wrote about a block. The alarm about a spend stays: the transaction is signed,
// and may be in another block soon.
func (c *ColdSpends) Undo(ctx context.Context, tx *store.Tx, b follow.RolledBackBlock) error {
	if idle, err := c.idle(ctx, tx); idle || err != nil {
		return err
	}
	id := c.Capabilities.ID
	spends, err := tx.Cold().SpendsAt(ctx, id, b.Height)
	if err != nil {
		return err
	}
	for _, x := range spends {
		if x.Booked {
			if err := c.reverse(ctx, tx, x); err != nil {
				return err
			}
		}
		x.Booked, x.Height = false, 0
		if err := tx.Cold().SetSpend(ctx, x); err != nil {
			return err
		}
	}
	return tx.Cold().UndoUTXOs(ctx, id, b.Height)
}

func (c *ColdSpends) reverse(ctx context.Context, tx *store.Tx, x store.ColdSpend) error {
	e, err := c.entryOf(ctx, tx, x, ledger.ColdSpentReversed)
	if err != nil || len(e.Postings) == 0 {
		return err
	}
	return tx.Ledger().Post(ctx, e)
}

// entryOfSpend is one of ledger.ColdSpent and ledger.ColdSpentReversed.
type entryOfSpend func(ref string, reversals int, fee ledger.Lot, lost []ledger.Lot, at time.Time) ledger.Entry

// entryOf returns an entry of a spend, named after how often the spend was reversed: a reversal counts itself.
func (c *ColdSpends) entryOf(
	ctx context.Context, tx *store.Tx, x store.ColdSpend, of entryOfSpend,
) (e ledger.Entry, err error) {
	var lost []ledger.Lot
	if err := json.Unmarshal(x.Lots, &lost); err != nil {
		return e, fmt.Errorf("read what %s paid: %w", x.TxID, err)
	}
	native, err := c.Registry.Native(x.Chain)
	if err != nil {
		return e, err
	}
	ref := ledger.FeeRef(x.Chain, x.TxID) + ":" + x.Base
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindColdReversed, ref)
	if x.Booked {
		reversals++
	}
	return of(ref, reversals, ledger.Lot{Asset: native.Code, Amount: x.Fee}, lost, tx.Now()), err
}

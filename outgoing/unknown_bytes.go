package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// warnOfUnknownBytes raises an alarm for each transaction that was adopted from a block that is being reorged out: its
// bytes are not known, so it is not sent again. No further transaction is built on its change.
func (h *Inclusions) warnOfUnknownBytes(ctx context.Context, tx *store.Tx, height uint64) error {
	adopted, err := tx.Outgoing().AdoptedIn(ctx, h.Capabilities.ID, height)
	if err != nil {
		return err
	}
	for _, p := range adopted {
		if err := tx.UTXOs().ForgetChange(ctx, p.ID); err != nil {
			return err
		}
		err := tx.Alarms().Raise(ctx, store.Alarm{
			Chain: p.Chain,
			Kind:  recovery.AlarmBytesUnknown,
			Ref:   p.ID.String(),
			Message: fmt.Sprintf(
				"block %d with transaction %s, which was adopted from it, was reorged out, and the bytes of the transaction "+
					"are not known: it cannot be sent again. %s; "+
					"see `bursar outgoing show %s`", height, p.TxID, h.wayOut(p), p.ID),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wayOut says what happens to a transaction that is in no block and whose bytes are not known.
func (h *Inclusions) wayOut(p bursar.OutgoingTx) string {
	if h.Capabilities.Lifetime.IsZero() {
		return "What it pays is paid by another transaction with the same UTXOs or nonce, unless it is included again; " +
			"if its error says that this is not possible, run `bursar outgoing abandon " + p.ID.String() + "`"
	}
	return "It is included again, or ends once the final blocks are past its lifetime and past the last block that it " +
		"names, and what it pays is then paid by another one; one that names none and is not known to be ours stays open"
}

// resolveUnknownBytes closes the alarm about an adopted transaction that is in a block again.
func resolveUnknownBytes(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if len(p.Unsigned) == 0 {
		return nil
	}
	unsigned, err := readUnsigned(p)
	if err != nil || len(unsigned.Bytes) > 0 {
		return err
	}
	return tx.Alarms().Resolve(ctx, recovery.AlarmBytesUnknown, p.ID.String())
}

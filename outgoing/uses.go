package outgoing

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// Uses notes what proves, should a block be reorged out, that a transaction which used a UTXO of ours can never be
// included: what funded the UTXO, and who used that instead; and which UTXOs and nonces an external spend has taken. It
// comes before every handler that judges external spends.
type Uses struct {
	Capabilities chain.Capabilities
	Log          *slog.Logger
}

// Apply leaves out of the block what only mentions a key of ours, and notes what the rest uses.
func (u *Uses) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) (err error) {
	if b.ExternalSpends, err = u.withoutMimicry(ctx, tx, b.ExternalSpends); err != nil {
		return err
	}
	return u.record(ctx, tx, b)
}

// Undo takes the notes of a block back.
func (u *Uses) Undo(ctx context.Context, tx *store.Tx, b follow.Undone) error {
	return tx.UTXOs().DropUses(ctx, u.Capabilities.ID, b.Height)
}

func (u *Uses) record(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	capabilities := u.Capabilities
	for _, funding := range b.Funding {
		if err := tx.UTXOs().RecordFunding(ctx, capabilities.ID, b.Ref.Height, funding.TxID, funding.Inputs); err != nil {
			return err
		}
	}
	if keep := uint64(2 * capabilities.ReorgDepth); len(b.Funding) > 0 && b.Ref.Height > keep {
		if err := tx.UTXOs().ForgetFunding(ctx, capabilities.ID, b.Ref.Height-keep); err != nil {
			return err
		}
	}
	for _, spent := range b.Spent {
		if err := tx.UTXOs().RecordUsed(ctx, capabilities.ID, b.Ref.Height, spent.TxID, spent.Outpoint); err != nil {
			return err
		}
	}
	for _, x := range b.ExternalSpends {
		if capabilities.Model != chain.UTXOModel { // a nonce is used up, anyone who made the transaction
			if err := tx.UTXOs().RecordUsed(ctx, capabilities.ID, b.Ref.Height, x.TxID, x.Reservations...); err != nil {
				return err
			}
			continue
		}
		if _, mine := b.Ours[x.TxID]; mine {
			continue
		}
		taken, err := tx.UTXOs().OursAmong(ctx, capabilities.ID, x.Reservations)
		if err != nil {
			return err
		}
		if err := tx.UTXOs().RecordUsed(ctx, capabilities.ID, b.Ref.Height, x.TxID, taken...); err != nil {
			return err
		}
	}
	return nil
}

// withoutMimicry leaves out the external spends that no endpoint could prove and that use no UTXO of ours: anybody can
// make a transaction of that form.
func (u *Uses) withoutMimicry(
	ctx context.Context, tx *store.Tx, found []chain.ExternalSpend,
) (proven []chain.ExternalSpend, err error) {
	id := u.Capabilities.ID
	for _, x := range found {
		if x.Inferred {
			taken, err := tx.UTXOs().OursAmong(ctx, id, x.Reservations)
			if err != nil {
				return nil, err
			}
			if len(taken) == 0 {
				u.Log.Warn("a transaction mentions a key of ours and spends none of our UTXOs", "chain", id, "hash", x.TxID,
					"address", x.Base)
				continue
			}
		}
		proven = append(proven, x)
	}
	return proven, nil
}

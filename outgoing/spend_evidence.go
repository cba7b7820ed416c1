package outgoing

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// SpendEvidence records what can prove, after a reorg, that a transaction which used a UTXO of ours can never be
// included: what funded the UTXO, and what spent it instead. It also records which UTXOs and nonces an external spend
// has used. It runs before every handler that evaluates external spends.
type SpendEvidence struct {
	Capabilities chain.Capabilities
	Log          *slog.Logger
}

// Apply removes from the block the external spends that only mention a key of ours, and records what the others use.
func (u *SpendEvidence) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) (err error) {
	if b.ExternalSpends, err = u.withoutMimicry(ctx, tx, b); err != nil {
		return err
	}
	return u.record(ctx, tx, b)
}

// Undo drops what was recorded about a block.
func (u *SpendEvidence) Undo(ctx context.Context, tx *store.Tx, b follow.RolledBackBlock) error {
	return tx.UTXOs().DropUses(ctx, u.Capabilities.ID, b.Height)
}

func (u *SpendEvidence) record(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	capabilities := u.Capabilities
	funding := make([]store.TxInputs, len(b.Funding))
	for i, f := range b.Funding {
		funding[i] = store.TxInputs{TxID: f.TxID, Inputs: f.Inputs}
	}
	if err := tx.UTXOs().RecordFunding(ctx, capabilities.ID, b.Ref.Height, funding...); err != nil {
		return err
	}
	if keep := uint64(2 * capabilities.ReorgDepth); len(b.Funding) > 0 && b.Ref.Height > keep {
		if err := tx.UTXOs().ForgetFunding(ctx, capabilities.ID, b.Ref.Height-keep); err != nil {
			return err
		}
	}
	var used []store.TxInputs
	for _, spent := range b.Spent {
		used = append(used, store.TxInputs{TxID: spent.TxID, Inputs: []string{spent.Outpoint}})
	}
	for _, x := range b.ExternalSpends {
		if capabilities.Model != chain.UTXOModel { // a nonce is used up, no matter who made the transaction
			used = append(used, store.TxInputs{TxID: x.TxID, Inputs: x.Reservations})
			continue
		}
		if _, mine := b.Ours[x.TxID]; mine {
			continue
		}
		taken, err := tx.UTXOs().OursAmong(ctx, capabilities.ID, x.Reservations)
		if err != nil {
			return err
		}
		used = append(used, store.TxInputs{TxID: x.TxID, Inputs: taken})
	}
	return tx.UTXOs().RecordUsed(ctx, capabilities.ID, b.Ref.Height, used...)
}

// withoutMimicry filters out the external spends that no endpoint could prove and that use no UTXO of ours: anybody can
// make a transaction of that form. Those from cold wallets were evaluated before.
func (u *SpendEvidence) withoutMimicry(
	ctx context.Context, tx *store.Tx, b *follow.Block,
) (proven []chain.ExternalSpend, err error) {
	id := u.Capabilities.ID
	for _, x := range b.ExternalSpends {
		if x.Inferred && !b.Cold[x.TxID] {
			taken, err := tx.UTXOs().OursAmong(ctx, id, x.Reservations)
			if err != nil {
				return nil, err
			}
			if len(taken) == 0 {
				u.Log.Warn("transaction mentions a key of ours but spends none of our UTXOs", "chain", id, "hash", x.TxID,
					"address", x.Base)
				continue
			}
		}
		proven = append(proven, x)
	}
	return proven, nil
}

package deposit

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// recordUses notes what proves, should a block be reorged out, that a transaction which used a UTXO of ours can never be
// included: what funded the UTXO, and who used that instead; and which UTXOs an external spend has taken.
func (f *Follower) recordUses(ctx context.Context, tx *store.Tx, b chain.Block, ours map[string]bursar.ID) error {
	traits := f.Chain.Capabilities()
	for _, funding := range b.Funding {
		if err := tx.UTXOs().RecordFunding(ctx, traits.ID, b.Ref.Height, funding.TxID, funding.Inputs); err != nil {
			return err
		}
	}
	if keep := uint64(2 * traits.ReorgDepth); len(b.Funding) > 0 && b.Ref.Height > keep {
		if err := tx.UTXOs().ForgetFunding(ctx, traits.ID, b.Ref.Height-keep); err != nil {
			return err
		}
	}
	for _, spent := range b.Spent {
		if err := tx.UTXOs().RecordUsed(ctx, traits.ID, b.Ref.Height, spent.TxID, spent.Outpoint); err != nil {
			return err
		}
	}
	for _, x := range b.ExternalSpends {
		if traits.Model != chain.UTXOModel { // a nonce is used up, anyone who made the transaction
			if err := tx.UTXOs().RecordUsed(ctx, traits.ID, b.Ref.Height, x.TxID, x.Reservations...); err != nil {
				return err
			}
			continue
		}
		if _, mine := ours[x.TxID]; mine {
			continue
		}
		taken, err := tx.UTXOs().OursAmong(ctx, traits.ID, x.Reservations)
		if err != nil {
			return err
		}
		if err := tx.UTXOs().RecordUsed(ctx, traits.ID, b.Ref.Height, x.TxID, taken...); err != nil {
			return err
		}
	}
	return nil
}

// withoutMimicry leaves out the external spends that no endpoint could prove and that use no UTXO of ours: anybody can make
// a transaction of that form.
func (f *Follower) withoutMimicry(ctx context.Context, tx *store.Tx, foreign []chain.ExternalSpend) (proven []chain.ExternalSpend, err error) {
	id := f.Chain.Capabilities().ID
	for _, x := range foreign {
		if x.Inferred {
			taken, err := tx.UTXOs().OursAmong(ctx, id, x.Reservations)
			if err != nil {
				return nil, err
			}
			if len(taken) == 0 {
				f.Log.Warn("a transaction mentions a key of ours and spends none of our UTXOs", "chain", id, "hash", x.TxID, "address", x.Base)
				continue
			}
		}
		proven = append(proven, x)
	}
	return proven, nil
}

// recordDelivered keeps what a block proves that a transaction of ours delivered: it is settled by that.
func recordDelivered(ctx context.Context, tx *store.Tx, spend bursar.ID, in chain.Inclusion) error {
	text, err := chain.EncodeDelivered(in)
	if err != nil {
		return err
	}
	return tx.Outgoing().SetDelivered(ctx, spend, text)
}

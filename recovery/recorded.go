package recovery

import (
	"context"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// giveBytes stores the bytes of a transaction that was recognised in a block and whose bytes were unknown: if its block
// is reorged out, it can be sent again. A transaction without reservations of everything that it uses exists beside
// another one of ours that may have them, and is left unchanged.
func (k Book) giveBytes(
	ctx context.Context, tx *store.Tx, id bursar.ID, c content, unsigned chain.UnsignedTx, signed chain.SignedTx,
) error {
	p, err := tx.Outgoing().Lock(ctx, id)
	if err != nil {
		return err
	}
	versions, err := tx.Outgoing().Versions(ctx, id)
	if err != nil || !slices.ContainsFunc(versions, func(v store.Version) bool {
		return v.TxID == signed.TxID && len(v.Raw) == 0
	}) {
		return err
	}
	owners, err := tx.Reservations().Owners(ctx, p.Chain, unsigned.Reservations)
	if err != nil || slices.ContainsFunc(unsigned.Reservations, func(resource string) bool {
		return owners[resource] != id
	}) {
		return err
	}
	if err := tx.Outgoing().GiveBytes(ctx, p.Chain,
		store.Version{TxID: signed.TxID, Unsigned: c.Unsigned, Raw: signed.Raw}); err != nil {
		return err
	}
	if p.Status != bursar.OutgoingSent || p.TxID != signed.TxID {
		return nil // its unsigned transaction is the one that it was settled by
	}
	p.Unsigned = c.Unsigned
	return tx.Outgoing().SetStatus(ctx, p, p.Status)
}

package outgoing

import (
	"context"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// utxosAreThere holds an unsigned transaction back before its first signature when a UTXO of it has been reorged out,
// or was taken by an external spend, since it was drafted: what it reserved is given back, and it is drafted again from
// what is there.
func (s *Sender) utxosAreThere(ctx context.Context, tx *store.Tx, p passage) error {
	if p.step != stepSign || s.Chain.Capabilities().Model != chain.UTXOModel || len(p.outgoingTx.Unsigned) == 0 {
		return nil
	}
	unsigned, err := readUnsigned(p.outgoingTx)
	if err != nil || len(unsigned.Reservations) == 0 {
		return err
	}
	there, err := tx.UTXOs().StillSpendable(ctx, p.outgoingTx.Chain, unsigned.Reservations)
	if err == nil && !there {
		err = &HeldError{Reason: "a UTXO left the chain before the transaction was signed; another one is built"}
	}
	return err
}

package outgoing

import (
	"context"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// utxosAreThere holds back an unsigned transaction before its first signature if one of its UTXOs was reorged out or
// spent by an external spend since it was built: its reservations are released, and it is built again from the UTXOs
// that exist.
func (s *Sender) utxosAreThere(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.step != stepSign || s.Chain.Capabilities().Model != chain.UTXOModel || len(p.outgoingTx.Unsigned) == 0 {
		return nil
	}
	unsigned, err := readUnsigned(p.outgoingTx)
	if err != nil || len(unsigned.Reservations) == 0 {
		return err
	}
	there, err := tx.UTXOs().StillSpendable(ctx, p.outgoingTx.Chain, unsigned.Reservations)
	if err == nil && !there {
		err = &WaitError{Reason: "a UTXO was reorged out or spent before the transaction was signed; it is built again"}
	}
	return err
}

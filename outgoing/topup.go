package outgoing

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// topUp requests gas for an address that must pay for its own sweep, unless a top-up of that address is open; the
// database itself refuses a second one.
func (s *Sender) topUp(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, need *chain.NeedsGasError) error {
	id := s.Chain.Capabilities().ID
	native, err := s.Registry.Native(id)
	if err != nil {
		return err
	}
	if most, err := s.MaxFee.Mul(2); err == nil &&
		most.Less(need.Amount) { // a sweep within the fee limit needs no more gas than this
		return s.waits(ctx, lease, p, bursar.OutgoingTx{WaitsFor: bursar.WaitsForFee},
			&chain.FeeLimitError{Fee: need.Amount, Limit: most})
	}
	to := chain.Payment{Address: bursar.Address{Base: need.Source.Base}, Amount: need.Amount}
	request := chain.TxRequest{
		ID:       s.IDs.Next(),
		Kind:     chain.KindGasTopUp,
		Payments: []chain.Payment{to},
		From:     s.Hot,
		Change:   need.Source,
		MaxFee:   s.MaxFee,
	}
	top := bursar.OutgoingTx{
		Chain:    id,
		Currency: native.Code,
		Share:    bursar.ShareTopUp,
		Once:     "top_up/" + need.Source.Base,
	}
	_, err = s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		now.WaitsFor, now.Lacks, now.Missing, now.Needed = bursar.WaitsForGas, native.Code, need.Amount, need.Amount
		if now.Status == bursar.OutgoingNew && (now.WaitsFor != p.WaitsFor || now.Missing != p.Missing) {
			if err := tx.Outgoing().SetWait(ctx, now); err != nil {
				return err
			}
		}
		_, err := insert(ctx, tx, top, request)
		return err
	})
	return errors.Join(need, err)
}

package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// eachBase calls f once with each address to request.
func (r *Reconciler) eachBase(ctx context.Context, tx *store.Tx, f func(base string)) error {
	capabilities := r.Chain.Capabilities()
	if !r.All || capabilities.SharedAddress {
		return eachPaid(ctx, tx, capabilities.ID, f)
	}
	newest, err := tx.Wallets().Newest(ctx)
	if err != nil {
		return err
	}
	return tx.Wallets().EachWatched(ctx, capabilities.Family, 0, newest, f, nil)
}

// eachPaid calls f once with each address at which anything arrived: what others sent, or the unit with which we made a
// transaction of ours void. That unit goes to an address that may never have had a deposit on this chain.
func eachPaid(ctx context.Context, tx *store.Tx, id bursar.ChainID, f func(base string)) error {
	filled := map[string]bool{}
	err := tx.Outgoing().EachFiller(ctx, id, func(request []byte) error {
		var order chain.TxRequest
		if err := json.Unmarshal(request, &order); err != nil {
			return fmt.Errorf("read whom a voiding transaction pays: %w", err)
		}
		for _, payment := range order.Payments {
			filled[payment.Address.Base] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := tx.Custody().EachPaidBase(ctx, id, func(base string) {
		delete(filled, base)
		f(base)
	}); err != nil {
		return err
	}
	for _, base := range slices.Sorted(maps.Keys(filled)) {
		f(base)
	}
	return nil
}

package deposit

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// keyIndex returns the key index of a deposit address that was given out, or may have been.
func keyIndex(ctx context.Context, tx *store.Tx, family bursar.Family, address bursar.Address) (uint32, error) {
	w, err := tx.Wallets().ByAddress(ctx, family, address)
	if !errors.Is(err, store.ErrNotFound) {
		return w.Index, err
	}
	gap, err := tx.GapAddresses().Get(ctx, family, address.Base)
	return gap.Index, err
}

package follow

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// addGaps adds the addresses of a block that may have been given out and that the database has forgotten: a wallet
// without a number, and so nobody's. What arrives there is unattributed, and its key is known.
func (f *Follower) addGaps(
	ctx context.Context, tx *store.Tx, b chain.Block, wallets map[bursar.Address]bursar.Wallet,
) error {
	capabilities := f.Chain.Capabilities()
	if capabilities.SharedAddress {
		return nil // a tag that nobody knows is nobody's already
	}
	for _, t := range b.Transfers {
		if _, known := wallets[t.Address]; known || t.Address.Base == f.Hot {
			continue
		}
		gap, err := tx.GapAddresses().Get(ctx, capabilities.Family, t.Address.Base)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		wallets[t.Address] = bursar.Wallet{Family: capabilities.Family, Index: gap.Index, Address: t.Address}
	}
	return nil
}

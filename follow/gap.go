package follow

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// addGaps adds the addresses of a block that may have been given out and that the database has forgotten, each as a
// wallet without a number, which belongs to no account. What is paid there is unattributed, and its key is known.
func (f *Follower) addGaps(
	ctx context.Context, tx *store.Tx, b chain.Block, wallets map[bursar.Address]bursar.Wallet,
) error {
	capabilities := f.Chain.Capabilities()
	if capabilities.SharedAddress {
		return nil // a tag that is not known belongs to no wallet anyway
	}
	var bases []string
	for _, t := range b.Transfers {
		if _, known := wallets[t.Address]; !known && t.Address.Base != f.Hot {
			bases = append(bases, t.Address.Base)
		}
	}
	gaps, err := tx.GapAddresses().Of(ctx, capabilities.Family, bases)
	if err != nil {
		return err
	}
	for _, t := range b.Transfers {
		if gap, is := gaps[t.Address.Base]; is {
			wallets[t.Address] = bursar.Wallet{Family: capabilities.Family, Index: gap.Index, Address: t.Address}
		}
	}
	return nil
}

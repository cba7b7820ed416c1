package xrpl

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var _ chain.ColdUses = (*Chain)(nil)

// UsedUp implements chain.ColdUses: in the newest validated ledger the account has a higher sequence, or is deleted, as
// an account that comes back begins with the number of its ledger (rippled: DeletableAccounts).
func (c *Chain) UsedUp(
	ctx context.Context, wallet bursar.ColdWallet, data []byte, _ uint64,
) (used bool, ledger uint64, err error) {
	defer chain.Wrap(&err, "sequence of cold wallet %s", wallet.Name)
	t, err := c.coldOf(wallet, data)
	if err != nil {
		return false, 0, err
	}
	s, st, err := c.pin(ctx)
	if err != nil {
		return false, 0, err
	}
	a, err := validatedAccount(ctx, s, wallet.Addresses[0])
	if err != nil || !a.exists {
		return err == nil, st.tip.Height, err
	}
	return a.Sequence > t.Sequence, max(st.tip.Height, uint64(a.in)), nil
}

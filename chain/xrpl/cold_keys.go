package xrpl

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var _ chain.ColdKeys = (*Chain)(nil)

// OtherWays implements chain.ColdKeys: a transaction may be signed by the master key unless that is disabled, by the
// regular key if there is one, or by the list of signers if there is one (rippled's Transactor::checkSign), whichever
// of them a configuration names.
func (c *Chain) OtherWays(ctx context.Context, wallet bursar.ColdWallet) (ways []string, err error) {
	defer chain.Wrap(&err, "keys of cold wallet %s", wallet.Name)
	if err := c.CheckCold(wallet); err != nil {
		return nil, err
	}
	s, _, err := c.pin(ctx)
	if err != nil {
		return nil, err
	}
	at, err := validatedAccount(ctx, s, wallet.Addresses[0])
	if err != nil || !at.exists {
		return nil, err
	}
	if at.RegularKey != "" {
		ways = append(ways, fmt.Sprintf("the regular key %.40q alone may pay: remove it with SetRegularKey", at.RegularKey))
	}
	list, err := listedSigners(ctx, s, wallet.Addresses[0])
	switch {
	case err != nil:
		return nil, err
	case wallet.Kind == bursar.ColdSignerList && list == nil:
		ways = append(ways, "there is no list of signers, so one key is enough: make the list with SignerListSet")
	case wallet.Kind == bursar.ColdSignerList && at.Flags&disableMaster == 0:
		ways = append(ways, "the master key alone may pay: disable it with AccountSet, flag 4")
	case wallet.Kind != bursar.ColdSignerList && list != nil:
		ways = append(ways, "a list of signers may pay as well: remove it with SignerListSet, or name the kind signer_list")
	}
	return ways, nil
}

package tron

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.ColdKeys = (*Chain)(nil)

// movesMoney are the kinds of contracts by which money leaves an account, or its permissions change (java-tron's
// Tron.proto, Transaction.Contract.ContractType): transfers of TRX and TRC-10, participation in an issue, contracts
// made and called, the exchanges and the market, shielded transfers, and AccountPermissionUpdateContract.
var movesMoney = []uint64{1, 2, 9, 30, 31, 41, 42, 43, 44, 46, 51, 52}

// OtherWays implements chain.ColdKeys: each permission of an account is enough for the kinds of contracts that it
// allows, and the owner's for all (java-tron's PermissionUtil and AccountCapsule).
func (c *Chain) OtherWays(ctx context.Context, wallet bursar.ColdWallet) (ways []string, err error) {
	defer chain.Wrap(&err, "keys of cold wallet %s", wallet.Name)
	if err := c.CheckCold(wallet); err != nil {
		return nil, err
	}
	at, err := parseAddress(wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	err = c.constantly(ctx, func(s *rpc.Session) error {
		found, err := accountOf(ctx, s, full, at)
		if err == nil && found.active() {
			ways, err = otherWays(found, at, wallet)
		}
		return err
	})
	return ways, err
}

// otherWays compares every permission of an account that moves money with the one that is configured.
func otherWays(found account, at address, wallet bursar.ColdWallet) (ways []string, err error) {
	need, err := needed(found, wallet)
	if err != nil {
		return nil, err
	}
	if need == 0 {
		ways = append(ways, fmt.Sprintf("permission %d of the configuration is not there, or no keys fulfil it: somebody "+
			"with the owner's keys may have removed it", wallet.PermissionID))
	}
	for _, p := range append([]permissionOf{found.Owner}, found.Active...) {
		if !slices.ContainsFunc(movesMoney, p.allows) {
			continue
		}
		if wallet.Kind != bursar.ColdPermission {
			others, err := p.fewest(at)
			if err != nil {
				return nil, err
			}
			if others > 0 {
				ways = append(ways, fmt.Sprintf("permission %d lets %d other keys pay without the account's own: remove it with "+
					"AccountPermissionUpdate, or name the kind permission", p.ID, others))
			}
			continue
		}
		fewest, err := p.fewest(address{})
		if err != nil {
			return nil, err
		}
		if len(p.Keys) == 0 {
			fewest = 1 // an account whose permissions were never written has its own key
		}
		if fewest > 0 && fewest < need {
			ways = append(ways, fmt.Sprintf("permission %d needs %d keys, permission %d of the configuration %d: raise it with "+
				"AccountPermissionUpdate", p.ID, fewest, wallet.PermissionID, need))
		}
	}
	return ways, nil
}

// needed returns how many keys are enough for the configured permission of an account; 0 if there is none, or they
// never are.
func needed(found account, wallet bursar.ColdWallet) (int, error) {
	if wallet.Kind != bursar.ColdPermission || wallet.PermissionID == 0 && len(found.Owner.Keys) == 0 {
		return 1, nil // the account's own key
	}
	for _, p := range append([]permissionOf{found.Owner}, found.Active...) {
		if p.ID == uint64(wallet.PermissionID) {
			return p.fewest(address{})
		}
	}
	return 0, nil
}

// fewest returns how many keys are enough for a permission without that of one account; 0 if they never are.
func (p permissionOf) fewest(without address) (int, error) {
	var weights []uint64
	for _, k := range p.Keys {
		at, err := parseAddress(k.Address)
		if err != nil {
			return 0, fmt.Errorf("permission %d: %w", p.ID, err)
		}
		if at != without {
			weights = append(weights, k.Weight)
		}
	}
	slices.SortFunc(weights, func(a, b uint64) int { return cmp.Compare(b, a) })
	var sum bursar.Amount
	for i, weight := range weights {
		var err error
		if sum, err = sum.Add(bursar.Units(weight)); err != nil {
			return 0, err
		}
		if !sum.Less(bursar.Units(p.Threshold)) {
			return i + 1, nil
		}
	}
	return 0, nil
}

package evm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.ColdKeys = (*Chain)(nil)

// selectModules is getModulesPaginated(0x1, 10): the first ten modules of a Safe (contracts/base/ModuleManager.sol,
// 1.4.1; the list begins at the sentinel 0x1).
var selectModules = "0xcc2f8452" + strings.Repeat("0", 63) + "1" + strings.Repeat("0", 63) + "a"

// singletons are the contracts Safe and SafeL2 of version 1.4.1 as their authors deployed them on every chain
// (safe-global/safe-deployments, src/assets/v1.4.1/safe.json and safe_l2.json).
var singletons = []string{"0x41675c099f32341bf84bfc5382af534df5c7461a", "0x29fcb43b46531bca003ddc8fcb67ffe91900c762"}

// deployed are the chains of which that is known: Ethereum, BNB Smart Chain, and Polygon.
var deployed = []uint64{1, 56, 137}

// OtherWays implements chain.ColdKeys. A module of a Safe pays without its owners (ModuleManager.sol,
// execTransactionFromModule), and its proxy does whatever the contract in its first slot does (SafeProxy.sol), which a
// DELEGATECALL can replace, as at Bybit in February 2025. An account whose key signed an authorisation runs the code
// that it names (EIP-7702). A guard of a Safe can only refuse.
func (c *Chain) OtherWays(ctx context.Context, wallet bursar.ColdWallet) (ways []string, err error) {
	defer chain.Wrap(&err, "keys of cold wallet %s", wallet.Name)
	if err := c.CheckCold(wallet); err != nil {
		return nil, err
	}
	at, err := parseAddress(wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, err
	}
	if wallet.Kind == bursar.ColdSafe {
		return c.otherWaysOfSafe(ctx, s, at)
	}
	var code text
	if err := s.Call(ctx, "eth_getCode", []any{at.hex(), "latest"}, &code); err != nil || len(code) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("the account runs code, 0x%.46s, that may pay: take its EIP-7702 authorisation back, or "+
		"name the kind safe", string(code))}, nil
}

func (c *Chain) otherWaysOfSafe(ctx context.Context, s *rpc.Session, safe address) (ways []string, err error) {
	if _, err := c.safeAt(ctx, s, safe); err != nil {
		return nil, err
	}
	var modules, slot text
	requests := []*rpc.Request{
		{Method: "eth_call", Params: []any{callData{To: safe.hex(), Data: selectModules}, "latest"}, Out: &modules},
		{Method: "eth_getStorageAt", Params: []any{safe.hex(), "0x0", "latest"}, Out: &slot},
	}
	if err := askSafe(ctx, s, safe, requests); err != nil {
		return nil, err
	}
	list, err := modulesOf(modules)
	if err != nil {
		return nil, fmt.Errorf("modules of Safe %s: %w", safe, err)
	}
	for _, module := range list {
		ways = append(ways, fmt.Sprintf("the module %s may pay without the owners: disable it with disableModule", module))
	}
	if runs, known := singleton(c.cfg.ChainID, slot); !known {
		ways = append(ways, fmt.Sprintf("the proxy runs the contract %s, which is not Safe %s of its authors: do not sign "+
			"anything before you know who replaced it", runs, safeVersion))
	}
	return ways, nil
}

// singleton returns the contract that a proxy runs, and whether it is one of the authors', as far as that is known of
// a chain.
func singleton(chainID uint64, slot text) (runs string, known bool) {
	if len(slot) != 64 {
		return fmt.Sprintf("%.66q", string(slot)), false
	}
	runs = "0x" + strings.ToLower(string(slot[24:]))
	return runs, !slices.Contains(deployed, chainID) || slices.Contains(singletons, runs)
}

// modulesOf reads what getModulesPaginated returns: the place of the list, where the next page begins, and the list.
func modulesOf(answer text) (list []address, err error) {
	raw, err := answer.bytes(nil)
	if err != nil || len(raw) < 96 || uintWord(64) != hash(raw[:32]) {
		return nil, errABI
	}
	size, err := word(raw[64:96]).amount()
	n, small := size.Uint64()
	if err != nil || !small || n > 10 || uint64(len(raw)) < 96+32*n {
		return nil, errABI
	}
	for i := range n {
		list = append(list, address(raw[96+32*i+12:][:20]))
	}
	return list, nil
}

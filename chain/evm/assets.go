package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// CheckAssets compares the decimals of every configured token with those of its contract.
func (c *Chain) CheckAssets(ctx context.Context) (problems []chain.AssetProblem) {
	for _, token := range c.cfg.Tokens {
		contract, err := parseAddress(token.Contract)
		if err != nil {
			continue // NewRules has already refused it
		}
		if what := assetProblem(ctx, c.nodes, contract, token.Decimals); what != "" {
			problems = append(problems, chain.AssetProblem{Contract: contract.String(), What: what})
		}
	}
	return problems
}

// caller is a client, or a session with one endpoint.
type caller interface {
	Call(ctx context.Context, method string, params []any, out any) error
}

// assetProblem returns why a token cannot be used, or "" if it can be used or no node answers.
func assetProblem(ctx context.Context, nodes caller, contract address, want int) string {
	var answer text // an address without a contract answers "0x"
	err := nodes.Call(ctx, "eth_call", []any{callData{To: contract.hex(), Data: "0x313ce567"}, "latest"},
		&answer) // decimals()
	var answered *rpc.Error
	switch {
	case errors.As(err, &answered) && reverted(err):
		return fmt.Sprintf("the contract does not answer decimals() (%.200v): check that it is a token of this network",
			err)
	case err != nil:
		return ""
	}
	var number word
	if data, err := answer.bytes(nil); err != nil || len(data) != copy(number[:], data) || len(data) < len(number) {
		return "no token contract exists at this address: check that it is the right contract for this network"
	}
	decimals, err := number.amount()
	if n, ok := decimals.Uint64(); err != nil || !ok || n != uint64(want) {
		return fmt.Sprintf("the contract has %s decimals and the configuration %d: correct `decimals`", decimals,
			want)
	}
	return ""
}

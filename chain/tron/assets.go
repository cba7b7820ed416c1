package tron

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.AssetChecker = (*Chain)(nil)

// CheckAssets compares every token's decimals with its contract. If no endpoint runs constant calls, it only checks
// that there is a contract: java-tron reports a missing one before it refuses the call.
func (c *Chain) CheckAssets(ctx context.Context) (problems []chain.AssetProblem) {
	for _, token := range c.cfg.Tokens {
		contract, _ := parseAddress(token.Contract) // NewRules has already parsed it
		what, err := c.checkToken(ctx, contract, token.Decimals)
		switch {
		case errors.Is(err, errNoConstant):
			c.nodes.Log.Debug("a token's decimals cannot be compared", "contract", contract.String(), "error", err)
		case err != nil:
			c.nodes.Log.Warn("a token cannot be checked now", "contract", contract.String(), "error", err)
		case what != "":
			problems = append(problems, chain.AssetProblem{Contract: contract.String(), What: what})
		}
	}
	return problems
}

// checkToken returns the problem of a token; err is why no endpoint answers.
func (c *Chain) checkToken(ctx context.Context, contract address, decimals int) (what string, err error) {
	err = c.constantly(ctx, func(s *rpc.Session) error {
		answer, err := call(ctx, s, full, constantCall{Owner: address{}.hex(), Contract: contract.hex(),
			Selector: "decimals()"})
		switch {
		case errors.Is(err, errNoContract):
			what = "there is no contract at this address: configure the token's contract on this network"
			return nil
		case errors.Is(err, errReverted):
			what = "the contract does not return its decimals: it is not a TRC-20 token"
			return nil
		case err != nil:
			return err
		}
		has, err := answer.number()
		if err != nil {
			what = "the contract does not return its decimals: it is not a TRC-20 token"
		} else if n, ok := has.Uint64(); !ok || n != uint64(decimals) {
			what = fmt.Sprintf("the contract has %s decimals and the configuration %d: correct the configuration before any "+
				"money of this currency is booked",
				has, decimals)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("decimals: %w", err)
	}
	return what, nil
}

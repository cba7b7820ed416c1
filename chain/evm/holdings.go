package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Holdings asks one node for all balances in the state of the given block, which must be canonical and whose state the
// node must still have: nodes that are no archives keep about the last hundred blocks.
func (c *Chain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	addresses := make([]address, len(bases))
	for i, base := range bases {
		var err error
		if addresses[i], err = parseAddress(base); err != nil {
			return nil, fmt.Errorf("holdings of %.50q: %w", base, err)
		}
	}
	if contract != "" {
		if _, err := parseAddress(contract); err != nil {
			return nil, fmt.Errorf("holdings of contract %.50q: %w", contract, err)
		}
	}
	if len(bases) == 0 {
		return nil, nil
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("holdings: %w", err)
	}
	held, err := c.balances(ctx, s, at, contract, addresses)
	if err != nil {
		return nil, fmt.Errorf("holdings at block %d: %w", at.Height, err)
	}
	return held, nil
}

// byHash names a block's state (EIP-1898).
type byHash struct {
	BlockHash string `json:"blockHash"`
	Canonical bool   `json:"requireCanonical"`
}

// balances asks by block hash; where an endpoint does not take that form, by height, and makes sure that the block
// still stands there afterwards. Refusals are worded in many ways (-32602, -32000 "cannot unmarshal object", a plan's
// words), so any answer counts as one that does not say that block or state are missing.
func (c *Chain) balances(
	ctx context.Context, s *rpc.Session, at chain.BlockRef, contract string, of []address,
) ([]bursar.Amount, error) {
	var refused error
	if !c.forms.refuses(s.Name()) {
		held, err := balancesAt(ctx, s, byHash{at.Hash, true}, contract, of)
		var answered *rpc.Error
		if !errors.As(err, &answered) || stateGone(err) || absent(err) {
			return held, err
		}
		refused = err
	}
	held, err := balancesAt(ctx, s, quantity(at.Height).hex(), contract, of)
	if err != nil {
		return nil, errors.Join(err, refused)
	}
	now, err := headerAt(ctx, s, at.Height)
	if err != nil {
		return nil, err
	}
	if now != at {
		return nil, fmt.Errorf("%w: block %d", chain.ErrOffChain, at.Height)
	}
	if refused != nil {
		c.forms.refused(s.Name()) // the same by height is answered: it is the form
	}
	return held, nil
}

// balancesAt asks for balances in the state that a block parameter names.
func balancesAt(
	ctx context.Context, s *rpc.Session, state any, contract string, of []address,
) ([]bursar.Amount, error) {
	native, tokens := make([]wei, len(of)), make([]word, len(of))
	requests := make([]*rpc.Request, len(of))
	for i, a := range of {
		if contract == "" {
			requests[i] = &rpc.Request{Method: "eth_getBalance", Params: []any{a.hex(), state}, Out: &native[i]}
			continue
		}
		call := callData{To: contract, Data: balanceData(a)}
		requests[i] = &rpc.Request{Method: "eth_call", Params: []any{call, state}, Out: &tokens[i]}
	}
	if err := s.Batch(ctx, requests); err != nil {
		return nil, err
	}
	held := make([]bursar.Amount, len(of))
	for i, r := range requests {
		err := r.Err
		if err == nil && contract != "" {
			held[i], err = tokens[i].amount()
		} else {
			held[i] = native[i].Amount
		}
		if err != nil {
			return nil, fmt.Errorf("balance of %s: %w", of[i], err)
		}
	}
	return held, nil
}

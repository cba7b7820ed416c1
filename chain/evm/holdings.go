package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Holdings requests all balances from one node in the state of the given block, which must be canonical and whose state
// the node must still have: nodes that are not archives keep about the last hundred blocks.
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
	balances, err := c.balances(ctx, s, at, contract, addresses)
	if err != nil {
		return nil, fmt.Errorf("holdings at block %d: %w", at.Height, err)
	}
	return balances, nil
}

// byHash specifies a block's state (EIP-1898).
type byHash struct {
	BlockHash string `json:"blockHash"`
	Canonical bool   `json:"requireCanonical"`
}

// balances requests balances in the state of a block.
func (c *Chain) balances(
	ctx context.Context, s *rpc.Session, at chain.BlockRef, contract string, of []address,
) (balances []bursar.Amount, err error) {
	err = c.inState(ctx, s, at, func(state any) (err error) {
		balances, err = balancesAt(ctx, s, state, contract, of)
		return err
	})
	return balances, err
}

// inState requests something in the state of a block, by its hash; if an endpoint does not accept that form, by height,
// and then checks that the block is still canonical. Refusals are worded in many ways (-32602, -32000 "cannot unmarshal
// object", a provider's text), so any answer counts as a refusal unless it says that the block or its state is missing.
func (c *Chain) inState(ctx context.Context, s *rpc.Session, at chain.BlockRef, ask func(state any) error) error {
	var refused error
	if !c.forms.refuses(s.Name()) {
		err := ask(byHash{at.Hash, true})
		var answered *rpc.Error
		if !errors.As(err, &answered) || stateGone(err) || absent(err) {
			return err
		}
		refused = err
	}
	if err := ask(quantity(at.Height).hex()); err != nil {
		return errors.Join(err, refused)
	}
	now, err := headerAt(ctx, s, at.Height)
	if err != nil {
		return err
	}
	if now != at {
		return fmt.Errorf("%w: block %d", chain.ErrOffChain, at.Height)
	}
	if refused != nil {
		c.forms.refused(s.Name()) // the request by height works: the endpoint refuses the form
	}
	return nil
}

// balancesAt requests balances in the state that a block parameter specifies.
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
	balances := make([]bursar.Amount, len(of))
	for i, r := range requests {
		err := r.Err
		if err == nil && contract != "" {
			balances[i], err = tokens[i].amount()
		} else {
			balances[i] = native[i].Amount
		}
		if err != nil {
			return nil, fmt.Errorf("balance of %s: %w", of[i], err)
		}
	}
	return balances, nil
}

var _ chain.NonceReader = (*Chain)(nil)

// NonceAt implements chain.NonceReader. The node must still have the state of the block, as for Holdings.
func (c *Chain) NonceAt(ctx context.Context, base string, at chain.BlockRef) (_ uint64, err error) {
	defer chain.Wrap(&err, "nonce of %.50q at block %d", base, at.Height)
	of, err := parseAddress(base)
	if err != nil {
		return 0, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return 0, err
	}
	var next quantity
	err = c.inState(ctx, s, at, func(state any) error {
		return s.Call(ctx, "eth_getTransactionCount", []any{of.hex(), state}, &next)
	})
	return uint64(next), err
}

package tron

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.EndpointReader = (*Chain)(nil)

// Endpoints returns the endpoints in configured order.
func (c *Chain) Endpoints() []chain.Endpoint {
	var list []chain.Endpoint
	for _, e := range c.nodes.Endpoints() {
		list = append(list, chain.Endpoint{Name: e.Name, Host: e.Host})
	}
	return list
}

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head of %s: %w", endpoint, err)
	}
	var own ahead // its own memory, so that the memory of the followed endpoint stays unchanged
	head, err := c.head(ctx, s, &own)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head of %s: %w", endpoint, err)
	}
	return head, nil
}

// BlockOn reads the canonical block at a height through one endpoint, in the same way as After.
func (c *Chain) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Block{}, fmt.Errorf("block %d of %s: %w", height, endpoint, err)
	}
	block, err := c.blockOn(ctx, s, height, watch)
	if err != nil {
		return chain.Block{}, fmt.Errorf("block %d of %s: %w", height, endpoint, err)
	}
	return block, nil
}

func (c *Chain) blockOn(ctx context.Context, s *rpc.Session, height uint64, watch chain.Watch) (chain.Block, error) {
	d, err := fetch(ctx, s, height)
	if errors.Is(err, errNoneThere) {
		return chain.Block{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.Block{}, err
	}
	blocks, err := c.scanAll(ctx, s, []*delivered{d}, watch)
	if err != nil {
		return chain.Block{}, err
	}
	return blocks[0], nil
}

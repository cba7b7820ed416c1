package tron

import (
	"context"
	"errors"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.EndpointReader = (*Chain)(nil)

// Endpoints returns the endpoints in configured order.
func (c *Chain) Endpoints() []chain.Endpoint { return c.nodes.Endpoints() }

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head of %s", endpoint)
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Head{}, err
	}
	var own ahead // its own memory, so that the memory of the followed endpoint stays unchanged
	return c.head(ctx, s, &own)
}

// BlockOn reads the canonical block at a height through one endpoint, in the same way as After.
func (c *Chain) BlockOn(
	ctx context.Context, endpoint string, height uint64, watch chain.Watch,
) (_ chain.Block, err error) {
	defer chain.Wrap(&err, "block %d of %s", height, endpoint)
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Block{}, err
	}
	return c.blockOn(ctx, s, height, watch)
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

package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

// Endpoints returns the configured endpoints in order.
func (c *Chain) Endpoints() []chain.Endpoint { return c.nodes.Endpoints() }

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head")
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Head{}, err
	}
	return c.head(ctx, s)
}

// BlockOn reads a block as After does, through one endpoint alone: no other endpoint supplies traces or balances.
func (c *Chain) BlockOn(
	ctx context.Context, endpoint string, height uint64, watch chain.Watch,
) (_ chain.Block, err error) {
	defer chain.Wrap(&err, "block %d", height)
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Block{}, err
	}
	d, err := c.fetch(ctx, source{s, true}, height)
	if errors.Is(err, errAbsent) {
		return chain.Block{}, fmt.Errorf("%w: %w", chain.ErrNoBlock, err)
	}
	if err != nil {
		return chain.Block{}, err
	}
	if err := watch.Sync(ctx); err != nil {
		return chain.Block{}, fmt.Errorf("sync the watched addresses: %w", err)
	}
	return c.scan(ctx, source{s, true}, d, watch)
}

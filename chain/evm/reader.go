package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

// Endpoints returns the configured endpoints in order.
func (c *Chain) Endpoints() []chain.Endpoint {
	list := c.nodes.Endpoints()
	endpoints := make([]chain.Endpoint, len(list))
	for i, e := range list {
		endpoints[i] = chain.Endpoint{Name: e.Name, Host: e.Host}
	}
	return endpoints
}

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head: %w", err)
	}
	head, err := c.head(ctx, s)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head: %w", err)
	}
	return head, nil
}

// BlockOn reads a block as After does, through one endpoint alone: no other endpoint supplies traces or balances.
func (c *Chain) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	b, err := c.blockOn(ctx, endpoint, height, watch)
	if err != nil {
		return b, fmt.Errorf("block %d: %w", height, err)
	}
	return b, nil
}

func (c *Chain) blockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
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

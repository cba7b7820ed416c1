package xrpl

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
	st, err := c.stand(ctx, s)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head of %s: %w", endpoint, err)
	}
	return chain.Head{Latest: st.tip, Final: st.tip}, nil
}

// BlockOn reads the validated ledger at a height through one endpoint, in the same way as After. It returns
// chain.ErrNoBlock if the endpoint has none there: above its newest, or below its oldest.
func (c *Chain) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Block{}, fmt.Errorf("ledger %d of %s: %w", height, endpoint, err)
	}
	block, err := c.blockOn(ctx, s, height, watch)
	if err != nil {
		return chain.Block{}, fmt.Errorf("ledger %d of %s: %w", height, endpoint, err)
	}
	return block, nil
}

func (c *Chain) blockOn(ctx context.Context, s *rpc.Session, height uint64, watch chain.Watch) (chain.Block, error) {
	st, err := c.stand(ctx, s)
	if err != nil {
		return chain.Block{}, err
	}
	if height > st.tip.Height { // the node already returns the next one while it is open
		return chain.Block{}, chain.ErrNoBlock
	}
	l, err := ledgerAt(ctx, s, height)
	if errors.Is(err, errLacks) {
		return chain.Block{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.Block{}, err
	}
	blocks, err := scanAll(ctx, s, []*ledger{l}, watch)
	if err != nil {
		return chain.Block{}, err
	}
	return blocks[0], nil
}

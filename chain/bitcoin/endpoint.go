package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.EndpointReader = (*Chain)(nil)

// Endpoints returns the endpoints in configured order.
func (c *Chain) Endpoints() []chain.Endpoint { return c.nodes.Endpoints() }

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head: %w", err)
	}
	return c.headBy(ctx, s)
}

// BlockOn reads the block of the endpoint's best chain at a height, as After does, through that endpoint alone. A
// pruned block gives an error other than chain.ErrNoBlock.
func (c *Chain) BlockOn(
	ctx context.Context, endpoint string, height uint64, watch chain.Watch,
) (_ chain.Block, err error) {
	defer chain.Wrap(&err, "block %d", height)
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Block{}, err
	}
	return c.blockOn(ctx, s, height, watch)
}

func (c *Chain) blockOn(ctx context.Context, s *rpc.Session, height uint64, watch chain.Watch) (chain.Block, error) {
	if height > math.MaxInt32 { // the node accepts no larger parameter
		return chain.Block{}, chain.ErrNoBlock
	}
	b, err := c.fetchOne(ctx, s, height)
	if errors.Is(err, errNoBlockNow) {
		return chain.Block{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.Block{}, err
	}
	defer c.release(b)
	if err := watch.Sync(ctx); err != nil {
		return chain.Block{}, fmt.Errorf("sync the watched addresses: %w", err)
	}
	return c.scan(ctx, s, chain.BlockRef{Height: height, Hash: b.hash.String()}, b, watch)
}

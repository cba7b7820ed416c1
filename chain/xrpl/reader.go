package xrpl

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
	st, err := c.stand(ctx, s)
	if err != nil {
		return chain.Head{}, err
	}
	return chain.Head{Latest: st.tip, Final: st.tip}, nil
}

// BlockOn reads the validated ledger at a height through one endpoint, in the same way as After. It returns
// chain.ErrNoBlock if the endpoint has none there: above its newest, or below its oldest.
func (c *Chain) BlockOn(
	ctx context.Context, endpoint string, height uint64, watch chain.Watch,
) (_ chain.Block, err error) {
	defer chain.Wrap(&err, "ledger %d of %s", height, endpoint)
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return chain.Block{}, err
	}
	return c.blockOn(ctx, s, height, watch)
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

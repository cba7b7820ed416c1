package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

var _ chain.EndpointReader = (*Chain)(nil)

// Endpoints returns the endpoints in configured order.
func (c *Chain) Endpoints() []chain.Endpoint { return c.nodes.Endpoints() }

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head")
	s, err := c.on(ctx, endpoint)
	if err != nil {
		return chain.Head{}, err
	}
	ref, err := c.head(ctx, s)
	if err != nil {
		return chain.Head{}, err
	}
	return chain.Head{Latest: ref, Final: ref}, nil
}

// BlockOn reads the final block of a slot as After does, through one endpoint. The error is chain.ErrNoBlock for a slot
// above the endpoint's newest final one, and for a slot that the next block's parent proves to be empty; a block that
// the endpoint lacks for another reason is another error.
func (c *Chain) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	s, err := c.on(ctx, endpoint)
	if err != nil {
		return chain.Block{}, fmt.Errorf("block at slot %d: %w", height, err)
	}
	b, err := s.blockAt(ctx, height, whole)
	if err != nil {
		return chain.Block{}, fmt.Errorf("block at slot %d: %w", height, s.whyNot(ctx, height, err))
	}
	if err := watch.Sync(ctx); err != nil {
		return chain.Block{}, fmt.Errorf("sync the watched addresses: %w", err)
	}
	out, err := held{height, b}.scan(watch)
	if err != nil {
		return chain.Block{}, fmt.Errorf("block at slot %d: %w", height, err)
	}
	return out, nil
}

// whyNot distinguishes a slot without a block from a block that the node lacks.
func (n *node) whyNot(ctx context.Context, slot uint64, err error) error {
	var none *absentError
	if !errors.As(err, &none) {
		return err
	}
	switch tip, tipErr := finalSlot(ctx, n); {
	case tipErr != nil:
		return tipErr
	case slot > tip:
		return fmt.Errorf("%w: the newest final slot is %d", chain.ErrNoBlock, tip)
	}
	slots, nextErr := n.slotsAfter(ctx, slot, 1)
	if nextErr != nil || len(slots) == 0 {
		return errors.Join(err, nextErr)
	}
	next, nextErr := n.blockAt(ctx, slots[0], bare)
	if nextErr == nil && *next.Parent < slot {
		return fmt.Errorf("%w: the slot is empty", chain.ErrNoBlock)
	}
	return errors.Join(err, nextErr)
}

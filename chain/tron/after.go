package tron

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var (
	errMoved = errors.New("the chain changed while it was read")
	// errLacks means that a node does not have a block, or its results, below its newest one.
	errLacks = errors.New("the node does not have the block")
	// errNoneThere is errLacks for the block itself.
	errNoneThere = fmt.Errorf("%w itself", errLacks)
)

// After returns blocks that follow last, and none if the node that answers is behind last or does not have the next one
// yet.
func (c *Chain) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) (_ []chain.Block, err error) {
	defer chain.Wrap(&err, "blocks after %d", last.Height)
	s, tip, err := c.newestFor(ctx, last)
	switch {
	case err != nil:
		return nil, err
	case tip.height() < last.Height || limit < 1:
		return nil, nil // the node is behind, which is not a reorg
	case tip.height() == last.Height && tip.ID.String() != last.Hash:
		return nil, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, tip.ID, last.Height)
	case tip.height() == last.Height:
		return nil, nil
	}
	count := int(min(uint64(c.nodes.Window(limit)), tip.height()-last.Height))
	fetched, err := fetchRange(ctx, s, last.Height+1, count, tip.height())
	switch {
	case errors.Is(err, errLacks):
		return nil, c.nodes.Lacking(s, last.Height, tip.height(), err)
	case err != nil:
		return nil, err
	}
	c.nodes.Returned(s)
	if fetched = linked(last.Hash, fetched); len(fetched) == 0 {
		return nil, c.offChain(ctx, s, last)
	}
	blocks, err := c.scanAll(ctx, s, fetched, watch)
	if err != nil {
		return nil, err
	}
	if blocks[len(blocks)-1].Ref == tip.ref() {
		c.ahead.readUpTo(s.Name(), tip.ref())
	}
	return blocks, nil
}

// offChain returns why the block behind last does not follow it: last is not canonical at this node, or the node moved.
func (c *Chain) offChain(ctx context.Context, s *rpc.Session, last chain.BlockRef) error {
	h, err := headerAt(ctx, s, full, last.Height)
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		return errMoved
	case err != nil:
		return err
	case h.ID.String() != last.Hash:
		return fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.ID, last.Height)
	}
	return errMoved
}

// linked returns the blocks that follow parent without a gap.
func linked(parent string, blocks []*delivered) []*delivered {
	for i, b := range blocks {
		if b.parent() != parent {
			return blocks[:i]
		}
		parent = b.ID.String()
	}
	return blocks
}

// scanAll evaluates blocks, after the watch has loaded everything that was committed before they were read.
func (c *Chain) scanAll(
	ctx context.Context, s *rpc.Session, fetched []*delivered, watch chain.Watch,
) ([]chain.Block, error) {
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watched addresses: %w", err)
	}
	blocks := make([]chain.Block, len(fetched))
	for i, b := range fetched {
		var err error
		if blocks[i], err = c.scan(b, watch); err != nil {
			return nil, s.Fail(fmt.Errorf("block %d: %w", b.height(), err))
		}
	}
	return blocks, nil
}

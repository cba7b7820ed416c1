package solana

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
)

const (
	// window is how many blocks one After holds in memory: a full block of main net is 2 to 8 MB of JSON.
	window = 16
	// fetchers is how many of them are asked for at once.
	fetchers = 4
)

var (
	errNotLinked = errors.New("it does not follow the block before it")
	errNothing   = errors.New("the node has final slots above, and lists no blocks there")
)

// After returns at most 16 blocks at a time, all from one node. Each names the one before it as its parent, by slot and by
// hash, so nothing is missing between them. ErrOffChain needs another block in the place of last, or one that has passed
// it over: the node then follows another chain, for final blocks do not change.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.after(ctx, last, min(limit, window), watch)
	if err != nil {
		return nil, fmt.Errorf("blocks after slot %d: %w", last.Height, err)
	}
	return blocks, nil
}

func (c *Chain) after(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	s, err := c.pin(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := finalSlot(ctx, s)
	if err != nil || tip < last.Height || limit < 1 {
		return nil, err // behind what has been seen: nodes differ by a few slots
	}
	if err := stands(ctx, s, last); err != nil || tip == last.Height {
		return nil, err
	}
	line, err := follow(ctx, s, last, tip, limit)
	if err != nil {
		return nil, err
	}
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watch: %w", err)
	}
	blocks := make([]chain.Block, len(line))
	for i, h := range line {
		if blocks[i], err = h.scan(watch); err != nil {
			return nil, s.Fail(fmt.Errorf("block at slot %d: %w", h.slot, err))
		}
	}
	return blocks, nil
}

// stands makes sure that a block is on the node's chain.
func stands(ctx context.Context, s *node, last chain.BlockRef) error {
	b, err := s.blockAt(ctx, last.Height, bare)
	var none *absentError
	switch {
	case errors.As(err, &none):
		return passedOver(ctx, s, last, none)
	case err != nil:
		return err
	case b.Hash != last.Hash:
		return fmt.Errorf("%w: %s at slot %d", chain.ErrOffChain, b.Hash, last.Height)
	}
	return nil
}

// passedOver tells a chain on which a slot is empty from a node that cannot show the slot's block.
func passedOver(ctx context.Context, s *node, last chain.BlockRef, none *absentError) error {
	slots, err := s.slotsAfter(ctx, last.Height, 1)
	if err != nil {
		return err
	}
	if len(slots) == 1 {
		b, err := s.blockAt(ctx, slots[0], bare)
		if err == nil && *b.Parent < last.Height {
			return fmt.Errorf("%w: slot %d is empty", chain.ErrOffChain, last.Height)
		}
	}
	return s.Fail(none)
}

// slotsAfter lists the first slots above a slot that have final blocks.
func (n *node) slotsAfter(ctx context.Context, slot uint64, limit int) ([]uint64, error) {
	var slots []uint64
	err := n.Call(ctx, "getBlocksWithLimit", []any{slot + 1, limit, at{finalized}}, &slots)
	if err != nil {
		return nil, fmt.Errorf("slots after %d: %w", slot, err)
	}
	if len(slots) > limit || !rising(slots, slot+1, 1<<62) {
		return nil, n.Fail(fmt.Errorf("slots after %d: %w", slot, errSlots))
	}
	return slots, nil
}

// follow fetches the blocks that follow last up to a slot, and returns those that are proven to follow without a gap.
func follow(ctx context.Context, s *node, last chain.BlockRef, tip uint64, limit int) ([]held, error) {
	slots, err := s.slotsAfter(ctx, last.Height, limit)
	if err != nil {
		return nil, err
	}
	for len(slots) > 0 && slots[len(slots)-1] > tip {
		slots = slots[:len(slots)-1]
	}
	if len(slots) == 0 {
		return nil, s.Fail(errNothing)
	}
	blocks, missing := make([]*block, len(slots)), make([]error, len(slots))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(fetchers)
	for i, slot := range slots {
		group.Go(func() (err error) {
			blocks[i], err = s.blockAt(groupCtx, slot, whole)
			var none *absentError
			if errors.As(err, &none) {
				missing[i], err = none, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	line, gap := linked(last, slots, blocks)
	if len(line) == 0 {
		return nil, s.Fail(errors.Join(append([]error{gap}, missing...)...))
	}
	return line, nil
}

// linked keeps the blocks that follow last without a break. A slot without a block is passed over when the next block's
// parent shows that nothing stands there, and ends the line otherwise. The error tells where the line ends.
func linked(last chain.BlockRef, slots []uint64, blocks []*block) ([]held, error) {
	var line []held
	for i, b := range blocks {
		if b == nil {
			continue
		}
		if *b.Parent != last.Height || b.Previous != last.Hash {
			return line, fmt.Errorf("block at slot %d: %w: its parent is %s at slot %d, the last one %s at slot %d",
				slots[i], errNotLinked, b.Previous, *b.Parent, last.Hash, last.Height)
		}
		line = append(line, held{slots[i], b})
		last = chain.BlockRef{Height: slots[i], Hash: b.Hash}
	}
	return line, nil
}

package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

const (
	// asksAgain is how often a node is asked again for a block that it should have. Behind one URL there may be several
	// nodes, some of them a few slots behind the others.
	asksAgain = 2
	// asksList is how often a node is asked for the following slots if it has final slots above but lists none: each
	// answer may come from a node that is behind.
	asksList = 8
	// mostDry is how many consecutive reads may find that a node does not have the blocks that it lists. After that it
	// counts as the node's fault.
	mostDry = 5
	// ahead is how far a list of slots may go beyond the node's reported final slot, because of several nodes behind
	// one URL.
	ahead = 150
)

var (
	errNotLinked = errors.New("the block does not follow the block before it")
	errNothing   = errors.New("the node has final slots above, but lists no blocks there")
	errBeyond    = errors.New("the node lists blocks far beyond its newest final slot")
	errDry       = errors.New("the node lists blocks that it does not have")
)

// After returns final blocks, as many at a time as memory allows. Each names its predecessor as its parent, by slot and
// by hash, so nothing is missing between them, whatever endpoints they come from. A node that is behind has nothing
// new, which is not a fault. ErrOffChain requires another block in the place of last, or a block that has skipped it:
// the node then follows another chain, since final blocks do not change.
func (c *Chain) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) (_ []chain.Block, err error) {
	if limit < 1 {
		return nil, nil
	}
	defer chain.Wrap(&err, "blocks after slot %d", last.Height)
	limit = c.nodes.Window(limit)
	s, err := c.pin(ctx)
	if err != nil {
		return nil, err
	}
	line, err := c.line(ctx, s, last, limit)
	if err != nil || len(line) == 0 {
		return nil, err
	}
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watched addresses: %w", err)
	}
	blocks := make([]chain.Block, len(line))
	for i, h := range line {
		if blocks[i], err = h.scan(watch); err != nil {
			return nil, s.Fail(fmt.Errorf("block at slot %d: %w", h.slot, err))
		}
	}
	return blocks, nil
}

// line fetches the blocks that follow last; none if the node has none, or does not have them yet.
func (c *Chain) line(ctx context.Context, s *node, last chain.BlockRef, limit int) ([]held, error) {
	slots, err := s.slotsAfter(ctx, last.Height, limit)
	if err == nil && len(slots) == 0 {
		slots, err = s.idle(ctx, last, limit)
	}
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	line, err := follow(ctx, s, last, slots)
	if len(line) > 0 {
		c.dry.Store(0)
		return line, nil
	}
	var none *absentError
	if err == nil || !errors.As(err, &none) {
		return nil, err
	}
	tip, err := finalSlot(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case slots[0] > tip+ahead:
		return nil, fmt.Errorf("%w: slot %d, newest final slot %d", errBeyond, slots[0], tip)
	case c.dry.Add(1) > mostDry:
		return nil, s.Fail(fmt.Errorf("%w: %w", errDry, none))
	}
	return nil, nil
}

// idle finds out why a node lists nothing after last. If the node is at last or behind, that is normal; last must then
// be on its chain. If it has final slots above, the list came from a node that is behind, and is requested again.
func (n *node) idle(ctx context.Context, last chain.BlockRef, limit int) ([]uint64, error) {
	for range asksList {
		tip, err := finalSlot(ctx, n)
		if err != nil || tip < last.Height {
			return nil, err
		}
		if tip == last.Height {
			err := checkOnChain(ctx, n, last)
			if none := (*absentError)(nil); errors.As(err, &none) {
				err = nil // the answer of a node that is behind the one that reported its tip
			}
			return nil, err
		}
		if slots, err := n.slotsAfter(ctx, last.Height, limit); err != nil || len(slots) > 0 {
			return slots, err
		}
	}
	return nil, errNothing
}

// checkOnChain checks that a block is on the node's chain. The error is an *absentError if the node may not have
// reached it yet.
func checkOnChain(ctx context.Context, s *node, last chain.BlockRef) error {
	b, err := s.blockAt(ctx, last.Height, bare)
	var none *absentError
	switch {
	case errors.As(err, &none) && none.early():
		return none
	case none != nil:
		return passedOver(ctx, s, last, none)
	case err != nil:
		return err
	case b.Hash != last.Hash:
		return fmt.Errorf("%w: %s at slot %d", chain.ErrOffChain, b.Hash, last.Height)
	}
	return nil
}

// passedOver distinguishes a chain on which a slot is empty from a node that cannot return the slot's block.
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

// follow fetches the blocks of slots, and returns those that are proven to follow last without a gap. If there are
// none, the error is an *absentError if the node may simply not have them yet. Other errors are the node's fault.
func follow(ctx context.Context, s *node, last chain.BlockRef, slots []uint64) ([]held, error) {
	f, err := fetch(ctx, s, slots)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		line, gap := linked(last, f.slots, f.blocks)
		line, err := f.proven(ctx, s, line, gap)
		if err != nil {
			return nil, err
		}
		if len(line) > 0 {
			return line, nil
		}
		if try >= asksAgain {
			return nil, broken(ctx, s, last, gap, f.missing)
		}
		if err := f.again(ctx, s); err != nil {
			return nil, err
		}
	}
}

// broken returns the error for blocks that do not follow last: last is not on the chain, or the node lists blocks that
// it does not have.
func broken(ctx context.Context, s *node, last chain.BlockRef, gap error, missing []*absentError) error {
	errs := []error{gap}
	early := gap == nil
	for _, m := range missing {
		if m != nil {
			errs, early = append(errs, m), early && m.early()
		}
	}
	if early {
		return errors.Join(errs...)
	}
	var none *absentError
	if err := checkOnChain(ctx, s, last); err != nil && !errors.As(err, &none) {
		return err
	}
	return s.Fail(errors.Join(errs...))
}

// linked returns the blocks that follow last without a gap. A slot without a block is skipped if the next block's
// parent shows that the slot is empty, and ends the line otherwise. The error says where the line ends.
func linked(last chain.BlockRef, slots []uint64, blocks []*block) ([]held, error) {
	var line []held
	for i, b := range blocks {
		if b == nil {
			continue
		}
		if *b.Parent != last.Height || b.Previous != last.Hash {
			return line, fmt.Errorf("block at slot %d: %w: its parent is %s at slot %d, the previous block is %s at "+
				"slot %d",
				slots[i], errNotLinked, b.Previous, *b.Parent, last.Hash, last.Height)
		}
		line = append(line, held{slots[i], b})
		last = chain.BlockRef{Height: slots[i], Hash: b.Hash}
	}
	return line, nil
}

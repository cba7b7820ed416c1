package xrpl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// easing is how long ledgers are asked for one by one after a node has warned of too much load.
const easing = 30 * time.Second

var errUnlinked = errors.New("ledgers do not follow each other")

// After returns ledgers that one node holds without a gap after last, and none where the node that answers is behind
// last or does not have the next one yet.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.after(ctx, last, limit, watch)
	if err != nil {
		return nil, fmt.Errorf("ledgers after %d: %w", last.Height, err)
	}
	return blocks, nil
}

func (c *Chain) after(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	s, st, err := c.standingFor(ctx, last)
	if err != nil {
		return nil, err
	}
	switch {
	case st.tip.Height < last.Height || limit < 1:
		return nil, nil // behind, which is no other chain
	case st.tip.Height == last.Height && st.tip.Hash != last.Hash:
		return nil, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, st.tip.Hash, last.Height)
	case st.tip.Height == last.Height:
		return nil, nil
	}
	whole, holds := st.held.from(last.Height + 1)
	if !holds {
		return nil, c.without(s, fmt.Errorf("%w: %d", errGap, last.Height+1))
	}
	if limit = c.nodes.Window(limit); c.now().Sub(time.Unix(0, c.pressed.Load())) < easing {
		limit = 1
	}
	end := min(last.Height+uint64(limit), whole, st.tip.Height)
	held, err := rpc.Fetch(ctx, s, int(end-last.Height), st.tip.Height,
		func(ctx context.Context, s *rpc.Session, i int) (*ledger, error) {
			return ledgerAt(ctx, s, last.Height+1+uint64(i))
		})
	switch {
	case errors.Is(err, errLacks) && last.Height+fresh >= st.tip.Height && !c.lag.lasts(s.Name(), c.now()):
		return nil, nil // it has not reached that node yet
	case errors.Is(err, errLacks):
		return nil, c.without(s, err)
	case err != nil:
		return nil, err
	}
	c.lag.over(s.Name())
	if held, err = c.linked(ctx, s, last, held); err != nil {
		return nil, err
	}
	blocks, err := scanAll(ctx, s, held, watch)
	if err == nil && blocks[len(blocks)-1].Ref == st.tip {
		c.ahead.readUpTo(s.Name(), st.tip)
	}
	return blocks, err
}

// scanAll judges ledgers once the watch knows all that was committed before they came.
func scanAll(ctx context.Context, s *rpc.Session, held []*ledger, watch chain.Watch) ([]chain.Block, error) {
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watch: %w", err)
	}
	blocks := make([]chain.Block, len(held))
	for i, l := range held {
		var err error
		if blocks[i], err = scan(l, watch); err != nil {
			return nil, s.Fail(fmt.Errorf("ledger %d: %w", l.Index, err))
		}
	}
	return blocks, nil
}

// linked keeps the ledgers that follow last and each other. Validated ledgers never move, so one that does not follow
// last comes from a node that contradicts itself, or last is of another chain: the node's own ledger there tells.
func (c *Chain) linked(ctx context.Context, s *rpc.Session, last chain.BlockRef, held []*ledger) ([]*ledger, error) {
	for i, l := range held[1:] {
		if l.Parent != held[i].Hash {
			held = held[:i+1] // another endpoint's: it is asked for again
			break
		}
	}
	if held[0].Parent.String() == last.Hash {
		return held, nil
	}
	h, err := headerAt(ctx, s, last.Height)
	switch {
	case errors.Is(err, errLacks):
		return nil, c.without(s, err)
	case err != nil:
		return nil, err
	case h.Hash != held[0].Parent:
		return nil, s.Fail(fmt.Errorf("%w: %d and %d", errUnlinked, h.Index, held[0].Index))
	}
	return nil, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.Hash, last.Height)
}

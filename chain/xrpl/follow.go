package xrpl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// easing is how long ledgers are requested one by one after a node has sent a load warning.
const easing = 30 * time.Second

var errUnlinked = errors.New("ledgers do not follow each other")

// After returns ledgers that one node has without a gap after last, and none if the node that answers is behind last or
// does not have the next one yet.
func (c *Chain) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) (_ []chain.Block, err error) {
	defer chain.Wrap(&err, "ledgers after %d", last.Height)
	s, st, err := c.standingFor(ctx, last)
	if err != nil {
		return nil, err
	}
	switch {
	case st.tip.Height < last.Height || limit < 1:
		return nil, nil // the node is behind, which does not mean another chain
	case st.tip.Height == last.Height && st.tip.Hash != last.Hash:
		return nil, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, st.tip.Hash, last.Height)
	case st.tip.Height == last.Height:
		return nil, nil
	}
	whole, holds := st.held.from(last.Height + 1)
	if !holds {
		return nil, c.nodes.Without(s, fmt.Errorf("%w: %d", errGap, last.Height+1))
	}
	if limit = c.nodes.Window(limit); c.nodes.Now().Sub(time.Unix(0, c.pressed.Load())) < easing {
		limit = 1
	}
	end := min(last.Height+uint64(limit), whole, st.tip.Height)
	ledgers, err := rpc.Fetch(ctx, s, int(end-last.Height), st.tip.Height,
		func(ctx context.Context, s *rpc.Session, i int) (*ledger, error) {
			return ledgerAt(ctx, s, last.Height+1+uint64(i))
		})
	switch {
	case errors.Is(err, errLacks):
		return nil, c.nodes.Lacking(s, last.Height, st.tip.Height, err)
	case err != nil:
		return nil, err
	}
	c.nodes.Returned(s)
	if ledgers, err = c.linked(ctx, s, last, ledgers); err != nil {
		return nil, err
	}
	blocks, err := scanAll(ctx, s, ledgers, watch)
	if err != nil {
		return nil, err
	}
	if blocks[len(blocks)-1].Ref == st.tip {
		c.ahead.readUpTo(s.Name(), st.tip)
	}
	return blocks, nil
}

// scanAll evaluates ledgers, after the watch has loaded everything that was committed before they were read.
func scanAll(ctx context.Context, s *rpc.Session, ledgers []*ledger, watch chain.Watch) ([]chain.Block, error) {
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watched addresses: %w", err)
	}
	blocks := make([]chain.Block, len(ledgers))
	for i, l := range ledgers {
		var err error
		if blocks[i], err = scan(l, watch); err != nil {
			return nil, s.Fail(fmt.Errorf("ledger %d: %w", l.Index, err))
		}
	}
	return blocks, nil
}

// linked returns the ledgers that follow last and each other. Validated ledgers never change, so one that does not
// follow last comes from a node that contradicts itself, or last is of another chain: the node's own ledger at that
// height decides.
func (c *Chain) linked(ctx context.Context, s *rpc.Session, last chain.BlockRef, ledgers []*ledger) ([]*ledger, error) {
	for i, l := range ledgers[1:] {
		if l.Parent != ledgers[i].Hash {
			ledgers = ledgers[:i+1] // it came from another endpoint: it is requested again
			break
		}
	}
	if ledgers[0].Parent.String() == last.Hash {
		return ledgers, nil
	}
	h, err := headerAt(ctx, s, last.Height)
	switch {
	case errors.Is(err, errLacks):
		return nil, c.nodes.Without(s, err)
	case err != nil:
		return nil, err
	case h.Hash != ledgers[0].Parent:
		return nil, s.Fail(fmt.Errorf("%w: %d and %d", errUnlinked, h.Index, ledgers[0].Index))
	}
	return nil, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.Hash, last.Height)
}

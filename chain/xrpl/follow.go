package xrpl

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	// window is how many ledgers one After holds in memory: a busy one takes a few MB.
	window = 8
	// fetchers is how many of them are asked at once. Public nodes limit a client quickly.
	fetchers = 3
)

var errUnlinked = errors.New("ledgers do not follow each other")

// After returns at most 8 ledgers at a time, all from one node, and only such as it holds without a gap after last.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.after(ctx, last, min(limit, window), watch)
	if err != nil {
		return nil, fmt.Errorf("ledgers after %d: %w", last.Height, err)
	}
	return blocks, nil
}

func (c *Chain) after(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	s, st, err := c.pin(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case st.tip.Height < last.Height:
		return nil, s.Fail(fmt.Errorf("its newest ledger is %d", st.tip.Height)) // behind, which is no other chain
	case st.tip.Height == last.Height && st.tip.Hash != last.Hash:
		return nil, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, st.tip.Hash, last.Height)
	case st.tip.Height == last.Height || limit < 1:
		return nil, nil
	}
	whole, holds := st.held.from(last.Height + 1)
	if !holds {
		return nil, s.Fail(fmt.Errorf("%w: %d", errGap, last.Height+1))
	}
	end := min(last.Height+uint64(limit), whole, st.tip.Height)
	held, err := fetch(ctx, s, last.Height+1, end)
	if err != nil {
		return nil, err
	}
	if err := linked(ctx, s, last, held); err != nil {
		return nil, err
	}
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watch: %w", err)
	}
	blocks := make([]chain.Block, len(held))
	for i, l := range held {
		if blocks[i], err = scan(l, watch); err != nil {
			return nil, s.Fail(fmt.Errorf("ledger %d: %w", l.Index, err))
		}
	}
	return blocks, nil
}

// fetch asks for all ledgers from first to last.
func fetch(ctx context.Context, s *rpc.Session, first, last uint64) ([]*ledger, error) {
	held := make([]*ledger, last-first+1)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(fetchers)
	for i := range held {
		group.Go(func() (err error) {
			held[i], err = ledgerAt(groupCtx, s, first+uint64(i))
			return err
		})
	}
	return held, group.Wait()
}

// linked checks that ledgers follow last and each other. Validated ledgers never move, so a break between them is the
// node's fault; one below them means that last is of another chain, once the node's own ledger there says so.
func linked(ctx context.Context, s *rpc.Session, last chain.BlockRef, held []*ledger) error {
	for i, l := range held[1:] {
		if l.Parent != held[i].Hash {
			return s.Fail(fmt.Errorf("%w: %d and %d", errUnlinked, held[i].Index, l.Index))
		}
	}
	if held[0].Parent.String() == last.Hash {
		return nil
	}
	h, err := headerAt(ctx, s, last.Height)
	if err != nil {
		return err
	}
	if h.Hash != held[0].Parent {
		return s.Fail(fmt.Errorf("%w: %d and %d", errUnlinked, h.Index, held[0].Index))
	}
	return fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.Hash, last.Height)
}

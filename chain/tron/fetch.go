package tron

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	// window is how many blocks one After holds in memory: a block with its results takes up to 2 MB.
	window = 20
	// fetchers is how many requests are under way at once.
	fetchers = 4
)

var errMoved = errors.New("the chain moved while it was read")

// After returns at most 20 blocks at a time, all from one node.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.after(ctx, last, min(limit, window), watch)
	if err != nil {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, err)
	}
	return blocks, nil
}

func (c *Chain) after(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := tipAbove(ctx, s, last)
	if err != nil || tip == last.Height || limit < 1 {
		return nil, err
	}
	held, err := fetchRange(ctx, s, last.Height+1, int(min(uint64(limit), tip-last.Height)))
	if err != nil {
		return nil, err
	}
	held = linked(last.Hash, held)
	if len(held) == 0 {
		return nil, errMoved
	}
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watch: %w", err)
	}
	blocks := make([]chain.Block, len(held))
	for i, b := range held {
		if blocks[i], err = c.scan(b, watch); err != nil {
			return nil, s.Fail(fmt.Errorf("block %d: %w", b.height(), err))
		}
	}
	return blocks, nil
}

// tipAbove returns the newest height, once it is sure that last is canonical at this node.
func tipAbove(ctx context.Context, s *rpc.Session, last chain.BlockRef) (uint64, error) {
	tip, err := newest(ctx, s, full)
	if err != nil {
		return 0, err
	}
	if tip.height() < last.Height {
		return 0, s.Fail(fmt.Errorf("its newest block is %d", tip.height())) // behind, which is no reorganisation
	}
	h, err := headerAt(ctx, s, full, last.Height)
	if errors.Is(err, chain.ErrNoBlock) {
		return 0, s.Fail(err)
	}
	if err != nil {
		return 0, err
	}
	if h.ID.String() != last.Hash {
		return 0, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.ID, last.Height)
	}
	return tip.height(), nil
}

// linked keeps the blocks that follow parent without a break.
func linked(parent string, blocks []*delivered) []*delivered {
	for i, b := range blocks {
		if b.parent() != parent {
			return blocks[:i]
		}
		parent = b.ID.String()
	}
	return blocks
}

// fetchRange asks for count blocks from a height on.
func fetchRange(ctx context.Context, s *rpc.Session, from uint64, count int) ([]*delivered, error) {
	held := make([]*delivered, count)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(fetchers)
	for i := range held {
		group.Go(func() (err error) {
			held[i], err = fetch(groupCtx, s, from+uint64(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return held, nil
}

// fetch asks for a block and what its transactions did, and checks them against each other.
func fetch(ctx context.Context, s *rpc.Session, height uint64) (*delivered, error) {
	d := &delivered{}
	ask := map[string]any{"num": height}
	if err := post(ctx, s, full, "getblockbynum", ask, &d.block); err != nil {
		return nil, unsound(s, fmt.Errorf("block %d: %w", height, err))
	}
	if err := d.check(height); err != nil {
		return nil, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	if len(d.Txs) == 0 {
		return d, nil
	}
	var list []execution
	if err := s.Post(ctx, "/wallet/gettransactioninfobyblocknum", ask, &list); err != nil {
		return nil, unsound(s, fmt.Errorf("results of block %d: %w", height, err))
	}
	executions, err := d.join(list)
	if err != nil {
		return nil, s.Fail(fmt.Errorf("results of block %d: %w", height, err))
	}
	d.executions = executions
	return d, nil
}

// unsound puts the node aside when it answers an error about a block that it has said to have.
func unsound(s *rpc.Session, err error) error {
	var answered *rpc.Error
	if errors.Is(err, rpc.ErrNull) || errors.Is(err, errAnswer) || errors.As(err, &answered) {
		return s.Fail(err)
	}
	return err
}

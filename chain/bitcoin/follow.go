package bitcoin

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	maxHeld    = 8 // raw blocks in memory at once
	maxFetches = 4 // questions for blocks under way at once; a bitcoind has as many threads by default
)

// After reads blocks in order from one node. Their parent links, and not the node's word, make them one chain: when it is
// reorganised meanwhile, the blocks before the break are returned, and the next call finds the last of them off the chain.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, err)
	}
	blocks, err := c.after(ctx, s, last, limit, watch)
	if err != nil {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, err)
	}
	return blocks, nil
}

func (c *Chain) after(ctx context.Context, s *rpc.Session, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	following, err := c.following(ctx, s, last)
	if err != nil {
		return nil, err
	}
	want := int(min(following, uint64(max(limit, 0))))
	var blocks []chain.Block
	for len(blocks) < want {
		held, err := c.fetch(ctx, s, last.Height+1, min(want-len(blocks), maxHeld))
		if err != nil {
			return nil, err
		}
		if len(held) == 0 {
			return blocks, nil // the chain became shorter
		}
		if err := watch.Sync(ctx); err != nil {
			return nil, fmt.Errorf("sync the watch: %w", err)
		}
		for _, b := range held {
			if b.parent.String() != last.Hash {
				return broken(blocks)
			}
			last = chain.BlockRef{Height: last.Height + 1, Hash: b.hash.String()}
			scanned, err := c.scan(ctx, s, last, b, watch)
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", last.Height, err)
			}
			blocks = append(blocks, scanned)
		}
	}
	return blocks, nil
}

// broken ends a reading where the next block has another parent. Is it the first, then last itself has been replaced.
func broken(blocks []chain.Block) ([]chain.Block, error) {
	if len(blocks) == 0 {
		return nil, chain.ErrOffChain
	}
	return blocks, nil
}

// following returns how many blocks the node has after last, or chain.ErrOffChain when its best chain holds another block
// at that height. A node that has no block there yet lags, and proves nothing.
func (c *Chain) following(ctx context.Context, s *rpc.Session, last chain.BlockRef) (uint64, error) {
	if !isHash(last.Hash) {
		return 0, chain.ErrOffChain
	}
	h, err := header(ctx, s, last.Hash)
	if isCode(err, codeNoSuch) {
		return 0, c.unknown(ctx, s, last)
	}
	switch {
	case err != nil:
		return 0, err
	case h.Confirmations < 0 || h.Height != last.Height:
		return 0, chain.ErrOffChain
	case h.Confirmations == 0:
		return 0, s.Fail(fmt.Errorf("block %s has no confirmations", h.Hash))
	}
	return uint64(h.Confirmations - 1), nil
}

// unknown judges a block that the node has never seen.
func (c *Chain) unknown(ctx context.Context, s *rpc.Session, last chain.BlockRef) error {
	hash, err := hashAt(ctx, s, last.Height)
	switch {
	case isCode(err, codeParameter):
		return s.Fail(fmt.Errorf("it has no block at %d yet", last.Height))
	case err != nil:
		return err
	case hash == last.Hash:
		return errors.New("the node has only just learnt of the block")
	}
	return chain.ErrOffChain
}

// fetch reads and verifies up to n blocks from a height on; fewer when the chain ends before. All their bytes are held
// when it returns.
func (c *Chain) fetch(ctx context.Context, s *rpc.Session, from uint64, n int) ([]*block, error) {
	found := make([]*block, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxFetches)
	for i := range n {
		group.Go(func() error {
			b, err := c.fetchOne(ctx, s, from+uint64(i))
			if errors.Is(err, chain.ErrNoBlock) {
				return nil
			}
			found[i] = b
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, b := range found {
		if b == nil {
			return found[:i], nil
		}
	}
	return found, nil
}

func (c *Chain) fetchOne(ctx context.Context, s *rpc.Session, height uint64) (*block, error) {
	hash, err := hashAt(ctx, s, height)
	if isCode(err, codeParameter) {
		return nil, chain.ErrNoBlock
	}
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	raw, err := callHex(ctx, s, "getblock", hash, 0)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	b, err := c.network.readBlock(raw)
	if err == nil {
		err = b.verify(hash)
	}
	if err != nil {
		return nil, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	return b, nil
}

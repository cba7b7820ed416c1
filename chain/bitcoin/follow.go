package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// maxInMemory is how many raw blocks are in memory at once.
const maxInMemory = 16

var (
	// errNoBlockNow means that the node does not have a block now: the block is above its tip, was reorged out, is
	// known only to another node behind the same URL, or is not downloaded yet. There is nothing new then.
	errNoBlockNow = errors.New("the node does not have the block")
	errPruned     = errors.New("the node has pruned the block: add a node that keeps it to the configuration, or start " +
		"a new database at a `start_height` that it has")
)

// After reads blocks in order. Their parent links, not the node's word, make them one chain: if it is reorganized
// during the call, After returns the blocks before the break, and the next call finds that the last of them is off the
// chain. A node that does not have last yet has nothing new. If the healthiest node has pruned the next block, the
// others are asked.
func (c *Chain) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) (_ []chain.Block, err error) {
	defer chain.Wrap(&err, "blocks after %d", last.Height)
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, err
	}
	limit = min(limit, c.nodes.Window(limit))
	blocks, err := c.after(ctx, s, last, limit, watch)
	if errors.Is(err, errPruned) {
		blocks, err = c.afterElsewhere(ctx, s.Name(), last, limit, watch)
	}
	if err != nil {
		return nil, err
	}
	return blocks, nil
}

// afterElsewhere reads through the other endpoints until one has the blocks.
func (c *Chain) afterElsewhere(
	ctx context.Context, tried string, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	for _, e := range c.nodes.Endpoints() {
		if e.Name == tried {
			continue
		}
		s, err := c.nodes.On(ctx, e.Name)
		if err != nil {
			continue // metrics show its state
		}
		if blocks, err := c.after(ctx, s, last, limit, watch); err == nil {
			return blocks, nil
		}
	}
	return nil, errPruned
}

func (c *Chain) after(
	ctx context.Context, s *rpc.Session, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	following, err := c.following(ctx, s, last)
	if err != nil {
		return nil, err
	}
	want := int(min(following, uint64(max(limit, 0))))
	var blocks []chain.Block
	for len(blocks) < want {
		fetched, err := c.fetch(ctx, s, last.Height+1, min(want-len(blocks), maxInMemory))
		if len(fetched) == 0 && (err == nil || len(blocks) > 0) {
			// the chain became shorter, or the next call returns the error again: hand over what was read
			return blocks, nil
		}
		if err != nil {
			return nil, err
		}
		if err := watch.Sync(ctx); err != nil {
			return nil, fmt.Errorf("sync the watched addresses: %w", err)
		}
		for _, b := range fetched {
			if b.parent.String() != last.Hash {
				return c.broken(ctx, s, blocks, last)
			}
			last = chain.BlockRef{Height: last.Height + 1, Hash: b.hash.String()}
			scanned, err := c.scan(ctx, s, last, b, watch)
			c.release(b)
			if err != nil && elsewhere(err) && following-uint64(len(blocks)) <= maxFresh {
				return blocks, nil
			}
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", last.Height, err)
			}
			blocks = append(blocks, scanned)
		}
	}
	return blocks, nil
}

// maxFresh is how many of the newest blocks one node may have that another node behind the same URL lacks.
const maxFresh = 3

// elsewhere reports whether an error says that a node does not know a block, or a transaction in one, that this URL has
// just reported: another node behind the URL reported it. A missing index is another error.
func elsewhere(err error) bool {
	var answer *rpc.Error
	return errors.Is(err, chain.ErrNoBlock) ||
		errors.As(err, &answer) && answer.Code == codeNoSuch &&
			strings.HasPrefix(answer.Message, "Block") // "Block not found", "Block hash not found"
}

// broken ends a read at a block with an unexpected parent. If it is the first block, then last itself has been
// replaced, unless the node denies that: behind a load balancer the block may have come from a node on another branch.
func (c *Chain) broken(
	ctx context.Context, s *rpc.Session, blocks []chain.Block, last chain.BlockRef,
) ([]chain.Block, error) {
	if len(blocks) > 0 {
		return blocks, nil
	}
	_, err := c.following(ctx, s, last)
	return nil, err
}

// following returns how many blocks the node has after last, or chain.ErrOffChain if its best chain has another block
// at that height. A node that has no block at that height yet lags, and has nothing new.
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

// unknown handles a block that the node has never seen: nil if it has no block at that height either.
func (c *Chain) unknown(ctx context.Context, s *rpc.Session, last chain.BlockRef) error {
	hash, err := hashAt(ctx, s, last.Height)
	switch {
	case isCode(err, codeParameter):
		return nil
	case err != nil:
		return err
	case hash == last.Hash:
		return nil // the node has just received the block, or another node behind the same URL answered
	}
	return chain.ErrOffChain
}

// fetch reads and verifies up to n blocks from a height on, from this node and, while catching up, from others that
// have the blocks; fewer if the chain ends before. The bytes of all blocks are in memory when it returns.
func (c *Chain) fetch(ctx context.Context, s *rpc.Session, from uint64, n int) ([]*block, error) {
	found, err := rpc.Fetch(ctx, s, n, from+uint64(n)-1, func(ctx context.Context, s *rpc.Session, i int) (*block, error) {
		return c.fetchOne(ctx, s, from+uint64(i))
	})
	if errors.Is(err, errNoBlockNow) {
		return nil, nil
	}
	return found, err
}

// fetchOne reads and verifies the block of the node's best chain at a height. It turns the node's other answers into
// errNoBlockNow and errPruned.
func (c *Chain) fetchOne(ctx context.Context, s *rpc.Session, height uint64) (*block, error) {
	hash, err := hashAt(ctx, s, height)
	if isCode(err, codeParameter) {
		return nil, errNoBlockNow
	}
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	b := c.blocks.Get().(*block)
	raw := rpc.Hex{Bytes: b.raw}
	if err := s.Call(ctx, "getblock", []any{hash, 0}, &raw); err != nil {
		return nil, fmt.Errorf("block %d: %w", height, unavailable(err))
	}
	if err = b.read(raw.Bytes, c.network.mweb); err == nil {
		err = b.verify(hash)
	}
	if err != nil {
		return nil, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	return b, nil
}

// release gives the memory of a block to one that is fetched later. Nobody uses the block any more.
func (c *Chain) release(b *block) { c.blocks.Put(b) }

// unavailable explains why a node does not give a block whose hash it gave (Bitcoin Core, rpc/blockchain.cpp,
// GetRawBlockChecked and its callers: "Block not found", "Block not available (pruned data)", and since 27 "(not fully
// downloaded)").
func unavailable(err error) error {
	switch {
	case isCode(err, codeNoSuch):
		return errNoBlockNow
	case isCode(err, codeMisc) && strings.Contains(err.Error(), "pruned data"):
		return errPruned
	case isCode(err, codeMisc) && strings.Contains(err.Error(), "not fully downloaded"):
		return errNoBlockNow
	}
	return err
}

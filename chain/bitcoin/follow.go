package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// maxHeld is how many raw blocks are in memory at once.
const maxHeld = 16

var (
	// errNotThere is a block that the node does not have now: above its tip, gone with a reorganisation, known to another
	// node behind the same URL only, or not downloaded yet. It is no news.
	errNotThere = errors.New("the node does not have the block")
	errPruned   = errors.New("the node has pruned the block: put a node that keeps it into the configuration, or begin " +
		"a new database at a " +
		"`start_height` that it has")
)

// After reads blocks in order. Their parent links, and not a node's word, make them one chain: when it is reorganised
// meanwhile, the blocks before the break are returned, and the next call finds the last of them off the chain. A node
// that does not have last yet brings no news. Where the healthiest node has pruned the next block, the others are
// asked.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, err)
	}
	limit = min(limit, c.nodes.Window(limit))
	blocks, err := c.after(ctx, s, last, limit, watch)
	if errors.Is(err, errPruned) {
		blocks, err = c.afterElsewhere(ctx, s.Name(), last, limit, watch)
	}
	if err != nil {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, err)
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
			continue // its state is told by the metrics
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
		held, err := c.fetch(ctx, s, last.Height+1, min(want-len(blocks), maxHeld))
		if len(held) == 0 && (err == nil || len(blocks) > 0) {
			return blocks, nil // the chain became shorter; or what is read is taken before the error comes again
		}
		if err != nil {
			return nil, err
		}
		if err := watch.Sync(ctx); err != nil {
			return nil, fmt.Errorf("sync the watch: %w", err)
		}
		for _, b := range held {
			if b.parent.String() != last.Hash {
				return c.broken(ctx, s, blocks, last)
			}
			last = chain.BlockRef{Height: last.Height + 1, Hash: b.hash.String()}
			scanned, err := c.scan(ctx, s, last, b, watch)
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

// maxFresh is how many of the newest blocks one node may have and another behind the same URL may not.
const maxFresh = 3

// elsewhere reports whether an error says that a node does not know of a block, or of a transaction in one, that this
// URL has just told of: another node behind it did. That the index is missing is another error.
func elsewhere(err error) bool {
	var answer *rpc.Error
	return errors.Is(err, chain.ErrNoBlock) ||
		errors.As(err, &answer) && answer.Code == codeNoSuch &&
			strings.HasPrefix(answer.Message, "Block") // "Block not found", "Block hash not found"
}

// broken ends a reading where the next block has another parent. Is it the first, then last itself has been replaced,
// unless the node denies that: behind a load balancer the block may have come from a node on another branch.
func (c *Chain) broken(
	ctx context.Context, s *rpc.Session, blocks []chain.Block, last chain.BlockRef,
) ([]chain.Block, error) {
	if len(blocks) > 0 {
		return blocks, nil
	}
	_, err := c.following(ctx, s, last)
	return nil, err
}

// following returns how many blocks the node has after last, or chain.ErrOffChain when its best chain holds another
// block at that height. A node that has no block there yet lags, and has no news.
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

// unknown judges a block that the node has never seen: nil where it has none at that height either.
func (c *Chain) unknown(ctx context.Context, s *rpc.Session, last chain.BlockRef) error {
	hash, err := hashAt(ctx, s, last.Height)
	switch {
	case isCode(err, codeParameter):
		return nil
	case err != nil:
		return err
	case hash == last.Hash:
		return nil // the node has only just learnt of the block, or is another one behind the same URL
	}
	return chain.ErrOffChain
}

// fetch reads and verifies up to n blocks from a height on, from this node and, while catching up, from others that are
// as far; fewer when the chain ends before. All their bytes are held when it returns.
func (c *Chain) fetch(ctx context.Context, s *rpc.Session, from uint64, n int) ([]*block, error) {
	found, err := rpc.Fetch(ctx, s, n, from+uint64(n)-1, func(ctx context.Context, s *rpc.Session, i int) (*block, error) {
		return c.fetchOne(ctx, s, from+uint64(i))
	})
	if errors.Is(err, errNotThere) {
		return nil, nil
	}
	return found, err
}

// fetchOne reads and verifies the block of the node's best chain at a height; errNotThere and errPruned are what its
// other answers mean.
func (c *Chain) fetchOne(ctx context.Context, s *rpc.Session, height uint64) (*block, error) {
	hash, err := hashAt(ctx, s, height)
	if isCode(err, codeParameter) {
		return nil, errNotThere
	}
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	raw, err := callHex(ctx, s, "getblock", hash, 0)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, unavailable(err))
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

// unavailable tells why a node does not give a block whose hash it gave (Bitcoin Core, rpc/blockchain.cpp,
// GetRawBlockChecked and its callers: "Block not found", "Block not available (pruned data)", and since 27 "(not fully
// downloaded)").
func unavailable(err error) error {
	switch {
	case isCode(err, codeNoSuch):
		return errNotThere
	case isCode(err, codeMisc) && strings.Contains(err.Error(), "pruned data"):
		return errPruned
	case isCode(err, codeMisc) && strings.Contains(err.Error(), "not fully downloaded"):
		return errNotThere
	}
	return err
}

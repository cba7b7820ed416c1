package evm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	// window is how many blocks one After holds in memory: a block of main net with receipts and traces takes up to 20 MB.
	window = 8
	// fetchers is how many of them are asked at once.
	fetchers = 4
)

var errMoved = errors.New("the chain moved while it was read")

func decode(raw []byte, out any) error { return json.Unmarshal(raw, out) }

// After returns at most 8 blocks at a time, all from one node.
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
	tip, err := c.tipAbove(ctx, s, last)
	if err != nil || tip == last.Height || limit < 1 {
		return nil, err
	}
	held := make([]*delivered, min(uint64(limit), tip-last.Height))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(fetchers)
	for i := range held {
		group.Go(func() (err error) {
			held[i], err = c.fetch(groupCtx, s, last.Height+1+uint64(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
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
		if blocks[i], err = c.scan(ctx, s, b, watch); err != nil {
			return nil, fmt.Errorf("block %d: %w", b.Number, err)
		}
	}
	return blocks, nil
}

// tipAbove returns the newest height, once it is sure that last is canonical at this node.
func (c *Chain) tipAbove(ctx context.Context, s *rpc.Session, last chain.BlockRef) (uint64, error) {
	var tip quantity
	var h header
	requests := []*rpc.Request{
		{Method: "eth_blockNumber", Out: &tip},
		{Method: "eth_getBlockByNumber", Params: []any{quantity(last.Height).hex(), false}, Out: &h},
	}
	if err := s.Batch(ctx, requests); err != nil {
		return 0, err
	}
	if requests[0].Err != nil {
		return 0, requests[0].Err
	}
	switch err := requests[1].Err; {
	case errors.Is(err, rpc.ErrNull) || err == nil && uint64(tip) < last.Height:
		return 0, s.Fail(fmt.Errorf("its newest block is %d", tip)) // behind, which is no reorganisation
	case err != nil:
		return 0, err
	case uint64(h.Number) != last.Height:
		return 0, s.Fail(errOtherBlock)
	case h.Hash.String() != last.Hash:
		return 0, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.Hash, last.Height)
	}
	return uint64(tip), nil
}

// linked keeps the blocks that follow parent without a break.
func linked(parent string, blocks []*delivered) []*delivered {
	for i, b := range blocks {
		if b.Parent.String() != parent {
			return blocks[:i]
		}
		parent = b.Hash.String()
	}
	return blocks
}

// fetch asks for a block with its receipts and traces and checks them against each other.
func (c *Chain) fetch(ctx context.Context, s *rpc.Session, height uint64) (*delivered, error) {
	d := &delivered{}
	err := s.Call(ctx, "eth_getBlockByNumber", []any{quantity(height).hex(), true}, &d.block)
	if err != nil {
		return nil, unsound(s, fmt.Errorf("block %d: %w", height, err))
	}
	var bridge transaction
	var bridged bool
	if c.cfg.StateSync && d.TxRoot != (hash{}) {
		bridge, bridged = d.cutStateSync()
	}
	if err := d.check(height); err != nil {
		return nil, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	if err := c.fetchReceipts(ctx, s, d, bridge, bridged); err != nil {
		return nil, fmt.Errorf("receipts of block %d: %w", height, err)
	}
	if err := c.fetchFrames(ctx, s, d); err != nil {
		return nil, fmt.Errorf("traces of block %d: %w", height, err)
	}
	return d, nil
}

// unsound puts the node aside when it answers null or an error about a block that it has said to have.
func unsound(s *rpc.Session, err error) error {
	var answered *rpc.Error
	if errors.Is(err, rpc.ErrNull) || errors.As(err, &answered) {
		return s.Fail(err)
	}
	return err
}

// unknownMethod reports whether a node says that it does not serve a method at all, as JSON-RPC 2.0 and gateways word it.
func unknownMethod(err error) bool {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return false
	}
	message := strings.ToLower(e.Message)
	if e.Code == -32601 {
		return true
	}
	if !strings.Contains(message, "method") && !strings.Contains(message, "namespace") && !strings.Contains(message, "module") {
		return false
	}
	for _, words := range []string{
		"not found", "not supported", "not available", "not allowed", "not whitelisted", "not enabled", "not exist",
		"unsupported", "disabled", "unavailable", "unknown", "restricted", "blocked", "upgrade",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// stateGone reports whether a node says that it no longer has the state of an old block: geth, erigon, nethermind, besu,
// reth word it differently.
func stateGone(err error) bool {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return false
	}
	message := strings.ToLower(e.Message)
	for _, words := range []string{
		"missing trie node", "historical state", "state not available", "state is not available", "no state available",
		"state unavailable", "pruned", "world state", "old data not available", "required historical", "proof window",
		"stateroot", "archive",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

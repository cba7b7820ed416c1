package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethrules"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	// maxSyncGap is how many blocks a syncing node may be behind the newest block that it knows of and still count as
	// synced.
	maxSyncGap = 16
)

var errSyncing = errors.New("the node is still syncing")

// Head returns the newest block, and the newest final one by the configured rule: the node's `finalized` tag or a
// number of confirmations. While a node has no finalized block, Final is zero: the caller then waits, and no other rule
// applies.
func (c *Chain) Head(ctx context.Context) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head")
	c.nodes.CompareHeights(ctx, func(ctx context.Context, s *rpc.Session) (uint64, error) {
		var height quantity
		err := s.Call(ctx, "eth_blockNumber", nil, &height)
		return uint64(height), err
	})
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.Head{}, err
	}
	return c.head(ctx, s)
}

func (c *Chain) head(ctx context.Context, s *rpc.Session) (chain.Head, error) {
	var syncing jsontext.Value
	var latest, tagged header
	requests := []*rpc.Request{
		{Method: "eth_syncing", Out: &syncing},
		{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Out: &latest},
	}
	if c.cfg.FinalityBlocks == 0 {
		requests = append(requests, &rpc.Request{Method: "eth_getBlockByNumber", Params: []any{"finalized", false},
			Out: &tagged})
	}
	if err := s.Batch(ctx, requests); err != nil {
		return chain.Head{}, err
	}
	if err := requests[1].Err; err != nil {
		return chain.Head{}, err
	}
	if requests[0].Err == nil && farBehind(syncing) { // some providers do not offer this method
		return chain.Head{}, s.Fail(errSyncing)
	}
	if err := s.Observe(uint64(latest.Number)); err != nil {
		return chain.Head{}, err
	}
	head := chain.Head{Latest: latest.ref()}
	if c.cfg.FinalityBlocks > 0 {
		final, err := c.deepBlock(ctx, s, latest)
		head.Final = final
		return head, err
	}
	switch {
	case requests[2].Err != nil: // it has none, or does not know the tag
		c.nodes.Log.DebugContext(ctx, "no finalized block", "node", s.Name(), "error", requests[2].Err)
	case tagged.Number > latest.Number:
		// Two nodes behind one URL have answered. A final block is part of the chain, so the newest block is not older.
		head.Latest, head.Final = tagged.ref(), tagged.ref()
	default:
		head.Final = tagged.ref()
	}
	return head, nil
}

// deepBlock returns the newest block that has the configured number of confirmations, itself included.
func (c *Chain) deepBlock(ctx context.Context, s *rpc.Session, latest header) (chain.BlockRef, error) {
	if uint64(latest.Number)+1 < c.cfg.FinalityBlocks {
		return chain.BlockRef{}, nil
	}
	return headerAt(ctx, s, uint64(latest.Number)+1-c.cfg.FinalityBlocks)
}

// farBehind reads the answer of eth_syncing: false, or an object with numbers. A node that only builds indexes is at
// the tip.
func farBehind(answer jsontext.Value) bool {
	var progress struct {
		Current *quantity `json:"currentBlock"`
		Highest *quantity `json:"highestBlock"`
	}
	if answer.Kind() == jsontext.KindFalse {
		return false
	}
	if err := decode(answer, &progress); err != nil || progress.Current == nil || progress.Highest == nil {
		return true
	}
	return *progress.Highest > *progress.Current+maxSyncGap
}

// headerAt returns the canonical block at a height, or chain.ErrNoBlock.
func headerAt(ctx context.Context, s *rpc.Session, height uint64) (chain.BlockRef, error) {
	var h header
	err := s.Call(ctx, "eth_getBlockByNumber", []any{quantity(height).hex(), false}, &h)
	if errors.Is(err, rpc.ErrNull) {
		return chain.BlockRef{}, fmt.Errorf("block %d: %w", height, chain.ErrNoBlock)
	}
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("block %d: %w", height, err)
	}
	if uint64(h.Number) != height {
		return chain.BlockRef{}, s.Fail(fmt.Errorf("block %d: %w", height, errOtherBlock))
	}
	return h.ref(), nil
}

// At returns the canonical block at a height, or chain.ErrNoBlock above the head.
func (c *Chain) At(ctx context.Context, height uint64) (chain.BlockRef, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("block %d: %w", height, err)
	}
	return headerAt(ctx, s, height)
}

// Find returns the canonical block that contains a transaction, or chain.ErrNoBlock, also for a text that is not a
// transaction hash.
func (c *Chain) Find(ctx context.Context, txID string) (chain.BlockRef, error) {
	return ethrules.Find(ctx, c.nodes, txID, parseHash, find)
}

func find(ctx context.Context, s *rpc.Session, id hash) (chain.BlockRef, error) {
	var r struct {
		TxHash      hash     `json:"transactionHash"`
		BlockHash   hash     `json:"blockHash"`
		BlockNumber quantity `json:"blockNumber"`
	}
	err := s.Call(ctx, "eth_getTransactionReceipt", []any{id.String()}, &r)
	if errors.Is(err, rpc.ErrNull) {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.BlockRef{}, err
	}
	if r.TxHash != id {
		return chain.BlockRef{}, s.Fail(errExternalTx)
	}
	canonical, err := headerAt(ctx, s, uint64(r.BlockNumber))
	if err == nil && canonical.Hash != r.BlockHash.String() {
		return chain.BlockRef{}, chain.ErrNoBlock // its block was reorged out
	}
	return canonical, err
}

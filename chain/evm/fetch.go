package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// scans is how many blocks are evaluated concurrently if balances are requested.
const scans = 8

var (
	errMoved = errors.New("the chain changed while it was read")
	// errAbsent: the endpoint has announced the block and does not have it. Behind one URL there may be several nodes.
	errAbsent = errors.New("the endpoint does not have the block yet")
)

func decode(raw []byte, out any) error { return json.Unmarshal(raw, out) }

// After returns as many blocks as memory allows. While catching up several endpoints may answer: every block is
// requested or checked by its hash, and follows the one before. An endpoint that is behind last has nothing new, which
// is not an error.
func (c *Chain) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) (_ []chain.Block, err error) {
	defer chain.Wrap(&err, "blocks after %d", last.Height)
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := c.tipAbove(ctx, s, last)
	if err != nil || tip <= last.Height || limit < 1 {
		return nil, err
	}
	n := c.nodes.Window(int(min(uint64(limit), tip-last.Height)))
	fetched, err := rpc.Fetch(ctx, s, n, last.Height+uint64(n),
		func(ctx context.Context, s *rpc.Session, i int) (*delivered, error) {
			return c.fetch(ctx, source{s, false}, last.Height+1+uint64(i))
		})
	if errors.Is(err, errAbsent) && tip-last.Height <= nearTip {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if fetched = linked(last.Hash, fetched); len(fetched) == 0 {
		return nil, errMoved
	}
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watched addresses: %w", err)
	}
	return c.scanAll(ctx, source{s, false}, fetched, watch)
}

// nearTip is how many blocks behind the newest one a block may be that a backend does not have yet.
const nearTip = 8

// scanAll evaluates blocks, several concurrently if that takes requests for balances, and returns those before the
// first that fails.
func (c *Chain) scanAll(ctx context.Context, s source, fetched []*delivered, watch chain.Watch) ([]chain.Block, error) {
	blocks, errs := make([]chain.Block, len(fetched)), make([]error, len(fetched))
	var group errgroup.Group
	group.SetLimit(scans)
	for i, d := range fetched {
		scan := func() error {
			errs[i] = rpc.Guarded(func() (err error) {
				blocks[i], err = c.scan(ctx, s, d, watch)
				return err
			})
			return nil
		}
		if d.untraced == (span{}) {
			_ = scan() // it sends no request
			continue
		}
		group.Go(scan)
	}
	_ = group.Wait() // each block has its own error
	for i, err := range errs {
		if err != nil && i == 0 {
			return nil, fmt.Errorf("block %d: %w", fetched[i].Number, err)
		}
		if err != nil {
			return blocks[:i], nil
		}
	}
	return blocks, nil
}

// tipAbove returns the newest height, after checking that last is canonical at this endpoint, or a height up to last's
// if the endpoint is behind: that is not a reorg.
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
	case absent(err):
		return 0, nil
	case err != nil:
		return 0, err
	case uint64(h.Number) != last.Height:
		return 0, s.Fail(errOtherBlock)
	case h.Hash.String() != last.Hash:
		return 0, fmt.Errorf("%w: %s at %d", chain.ErrOffChain, h.Hash, last.Height)
	}
	return uint64(tip), nil
}

// linked returns the blocks that follow parent without a gap.
func linked(parent string, blocks []*delivered) []*delivered {
	for i, b := range blocks {
		if b.Parent.String() != parent {
			return blocks[:i]
		}
		parent = b.Hash.String()
	}
	return blocks
}

// fetch reads one complete block: the block and its receipts concurrently, then the value that contracts sent in it.
func (c *Chain) fetch(ctx context.Context, s source, height uint64) (*delivered, error) {
	d := &delivered{}
	early := c.early(s)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(guarded(func() error {
		err := insist(func() error {
			return s.Call(groupCtx, "eth_getBlockByNumber", []any{quantity(height).hex(), true}, &d.block)
		})
		if absent(err) {
			return errAbsent
		}
		return err
	}))
	group.Go(guarded(func() error {
		if early == nil {
			return nil
		}
		err := s.CallOptional(groupCtx, blockReceipts, []any{quantity(height).hex()}, early)
		if rpc.Declined(err) {
			early = nil // requested again by hash, or one by one
			return nil
		}
		return err
	}))
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	if uint64(d.Number) != height {
		return nil, s.Fail(fmt.Errorf("block %d: %w: %d %v", height, errOtherBlock, d.Number, d.Hash))
	}
	if err := c.fetchReceipts(ctx, s.Session, d, early); err != nil {
		return nil, fmt.Errorf("receipts of block %d: %w", height, unsound(s.Session, err))
	}
	if err := c.fetchFrames(ctx, s, d); err != nil {
		return nil, fmt.Errorf("traces of block %d: %w", height, err)
	}
	return d, nil
}

func guarded(work func() error) func() error {
	return func() error { return rpc.Guarded(work) }
}

// early returns where to store receipts that are requested together with the block, or nil if that request cannot
// succeed.
func (c *Chain) early(s source) *receiptList {
	if known, offered := s.Offers(blockReceipts); known && !offered {
		return nil
	}
	return &receiptList{rules: c.Rules}
}

// unsound puts the endpoint into a cool-down for contradictory data. Missing data is not a fault.
func unsound(s *rpc.Session, err error) error {
	for _, wrong := range []error{errOtherBlock, errPartial, errExternalTx} {
		if errors.Is(err, wrong) {
			return s.Fail(err)
		}
	}
	return err
}

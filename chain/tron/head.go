package tron

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethrules"
	"github.com/bursar/bursar/chain/rpc"
)

// Head returns the newest block and the newest solidified one. Nothing else makes a block final: while solidification
// stops, so does Final.
func (c *Chain) Head(ctx context.Context) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head")
	c.nodes.CompareHeights(ctx, func(ctx context.Context, s *rpc.Session) (uint64, error) {
		h, err := newest(ctx, s, full)
		return h.height(), err
	})
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.Head{}, err
	}
	return c.head(ctx, s, &c.ahead)
}

// head requests the solidified block only together with a newest block that memory has not just seen.
func (c *Chain) head(ctx context.Context, s *rpc.Session, memory *ahead) (chain.Head, error) {
	latest, err := newest(ctx, s, full)
	if err != nil {
		return chain.Head{}, err
	}
	memory.note(s.Name(), latest, c.nodes.Now(), true)
	final, known := memory.finalBeside(s.Name(), latest, c.nodes.Now())
	if !known {
		solidified, err := newest(ctx, s, solid)
		if err != nil {
			return chain.Head{}, err
		}
		final = solidified.ref()
		memory.noteFinal(s.Name(), latest, final, c.nodes.Now())
	}
	if err := s.Observe(latest.height()); err != nil {
		return chain.Head{}, err
	}
	if final.Height > latest.height() {
		// behind a load balancer: a solidified block is part of the chain
		return chain.Head{Latest: final, Final: final}, nil
	}
	return chain.Head{Latest: latest.ref(), Final: final}, nil
}

// At returns the canonical block at a height, or chain.ErrNoBlock above the head.
func (c *Chain) At(ctx context.Context, height uint64) (chain.BlockRef, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("block %d: %w", height, err)
	}
	h, err := headerAt(ctx, s, full, height)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return h.ref(), nil
}

// Find returns the canonical block that contains a transaction, or chain.ErrNoBlock, also for a text that is not a
// transaction id.
func (c *Chain) Find(ctx context.Context, txID string) (chain.BlockRef, error) {
	return ethrules.Find(ctx, c.nodes, txID, parseHash,
		func(ctx context.Context, s *rpc.Session, id hash) (chain.BlockRef, error) {
			found, err := find(ctx, s, full, id)
			if err != nil {
				return chain.BlockRef{}, err
			}
			return found.ref(), nil
		})
}

// executed is the answer to a request for one execution.
type executed struct {
	failure
	execution
}

// find returns the header of the block of a view that contains a transaction, or chain.ErrNoBlock. A result whose time
// differs from that of the block at its height belongs to a block that was reorged out.
func find(ctx context.Context, s *rpc.Session, v view, id hash) (header, error) {
	var e executed
	if err := post(ctx, s, v, "gettransactioninfobyid", map[string]any{"value": id.String()}, &e); err != nil {
		return header{}, err
	}
	if e.ID == (hash{}) {
		return header{}, chain.ErrNoBlock
	}
	if e.ID != id || e.Height < 0 {
		return header{}, s.Fail(fmt.Errorf("%w: the result of transaction %s", errOther, e.ID))
	}
	h, err := headerAt(ctx, s, v, uint64(e.Height))
	if err == nil && h.Header.Raw.Time != e.Time {
		return header{}, chain.ErrNoBlock
	}
	return h, err
}

// found reports whether a view knows of a transaction in a block.
func found(ctx context.Context, s *rpc.Session, v view, id hash) (bool, error) {
	_, err := find(ctx, s, v, id)
	if errors.Is(err, chain.ErrNoBlock) {
		return false, nil
	}
	return err == nil, err
}

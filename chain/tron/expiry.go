package tron

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Expired reports whether a draft can never be included: a solidified block is past its expiration, and the transaction is
// in no block from the one that it refers to up to there. A transaction is valid in a block whose parent's time is before
// its expiration (java-tron, Manager.validateCommon), so no later block can take it.
//
// The blocks themselves are read, some twenty a minute: a node may lack results of old transactions and say nothing of it.
func (c *Chain) Expired(ctx context.Context, draft chain.Draft, txID string) (bool, error) {
	if draft.Expires == 0 {
		return false, nil
	}
	expired, err := c.expired(ctx, draft, txID)
	if err != nil {
		return false, fmt.Errorf("expired: %w", err)
	}
	return expired, nil
}

func (c *Chain) expired(ctx context.Context, draft chain.Draft, txID string) (bool, error) {
	id, err := parseHash(txID)
	if err != nil {
		return false, fmt.Errorf("transaction %.80q: %w", txID, err)
	}
	_, p, err := unpack(draft.Unsigned)
	if err != nil {
		return false, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return false, err
	}
	final, err := newest(ctx, s, solid)
	if err != nil || final.clock() <= p.Expiration {
		return false, err
	}
	if there, err := found(ctx, s, full, id); err != nil || there {
		return false, err
	}
	anchor, err := anchorOf(ctx, s, &p, final.height())
	if err != nil {
		return false, err
	}
	return absent(ctx, s, anchor, final.height(), p.Expiration, id)
}

// A reference names the last two bytes of a height; the block may be some rounds of these back.
const (
	round  = 1 << 16 // blocks
	rounds = 20      // six weeks
)

var errNoAnchor = errors.New("the block that the transaction refers to is not on the chain")

// anchorOf returns the solidified block that a payload refers to.
func anchorOf(ctx context.Context, s *rpc.Session, p *payload, top uint64) (header, error) {
	low := uint64(binary.BigEndian.Uint16(p.RefBytes[:]))
	for range rounds {
		if top < low {
			break
		}
		height := top - (top-low)%round
		h, err := headerAt(ctx, s, solid, height)
		if err != nil {
			return header{}, err
		}
		if [8]byte(h.ID[8:16]) == p.RefHash {
			return h, nil
		}
		if height < round {
			break
		}
		top = height - 1
	}
	return header{}, errNoAnchor
}

// listed is a block of which only the transactions' ids are read.
type listed struct {
	header
	Txs []struct {
		ID hash `json:"txID"`
	} `json:"transactions"`
}

// absent reads solidified blocks above anchor, each linked to the one before, until one is past the time, and reports
// whether the transaction is in none of them.
func absent(ctx context.Context, s *rpc.Session, anchor header, top, past uint64, id hash) (bool, error) {
	for last := anchor; last.clock() <= past; {
		if last.height() >= top {
			return false, s.Fail(fmt.Errorf("%w: no block past %d", errPartial, past))
		}
		blocks, err := list(ctx, s, last.height()+1, int(min(window, top-last.height())))
		if err != nil {
			return false, err
		}
		for _, b := range blocks {
			if b.parent() != last.ID.String() {
				return false, s.Fail(fmt.Errorf("%w: block %d does not follow %s", errOther, b.height(), last.ID))
			}
			for _, tx := range b.Txs {
				if tx.ID == id {
					return false, nil
				}
			}
			if last = b.header; last.clock() > past {
				break
			}
		}
	}
	return true, nil
}

// listers is how many blocks are listed at once.
const listers = 4

// list asks for count solidified blocks from a height on.
func list(ctx context.Context, s *rpc.Session, from uint64, count int) ([]*listed, error) {
	blocks := make([]*listed, count)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(listers)
	for i := range blocks {
		group.Go(func() error {
			height := from + uint64(i)
			b := &listed{}
			if err := post(groupCtx, s, solid, "getblockbynum", map[string]any{"num": height}, b); err != nil {
				return unsound(s, fmt.Errorf("block %d: %w", height, err))
			}
			err := b.check()
			if err == nil && (b.height() != height || (len(b.Txs) == 0) != (b.Header.Raw.Root == hash{})) {
				err = errPartial
			}
			if err != nil {
				return s.Fail(fmt.Errorf("block %d: %w", height, err))
			}
			blocks[i] = b
			return nil
		})
	}
	return blocks, group.Wait()
}

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

// Expired reports whether an unsigned transaction can never be included: a solidified block is past its expiration, and
// the transaction is in no block from the one that it refers to up to there. A transaction is valid in a block whose
// parent's time is before its expiration (java-tron, Manager.validateCommon), so no later block can include it.
//
// The blocks themselves are read, about twenty a minute: a node may lack results of old transactions without saying so.
// A lite full node starts at its snapshot and has none of the blocks before (java-tron,
// ChainBaseManager.getLowestBlockNum); then the next endpoint is asked. The error is chain.ErrPruned if all lack some.
// A lite full node whose history is closed (openHistoryQueryWhenLiteFN is off by default) does not answer in JSON and
// cannot be followed at all: it counts as unavailable.
func (c *Chain) Expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (_ bool, err error) {
	defer chain.Wrap(&err, "expired")
	if unsigned.Expires == 0 {
		return false, nil
	}
	id, err := parseHash(txID)
	if err != nil {
		return false, fmt.Errorf("transaction %.80q: %w", txID, err)
	}
	_, p, err := unpack(unsigned.Bytes)
	if err != nil {
		return false, err
	}
	gone, err := rpc.Anywhere(ctx, c.nodes.Client, func(ctx context.Context, s *rpc.Session) (bool, error) {
		return expiredOn(ctx, s, &p, id)
	}, lacksHistory)
	if errors.Is(err, rpc.ErrLacks) {
		err = fmt.Errorf("%w: %w", chain.ErrPruned, err)
	}
	return gone, err
}

func expiredOn(ctx context.Context, s *rpc.Session, p *payload, id hash) (bool, error) {
	final, err := newest(ctx, s, solid)
	if err != nil || final.clock() <= p.Expiration {
		return false, err
	}
	if there, err := found(ctx, s, full, id); err != nil || there {
		return false, err
	}
	anchor, err := anchorOf(ctx, s, p, final.height())
	if err != nil {
		return false, err
	}
	return absent(ctx, s, anchor, final.height(), p.Expiration, id)
}

// errHistory means that a node lacks a block that may contain a transaction.
var errHistory = errors.New("the node lacks some of the blocks that may contain the transaction")

func lacksHistory(err error) bool { return errors.Is(err, errHistory) }

// A reference contains the last two bytes of a height; the block may be several multiples of 2^16 lower.
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
		if errors.Is(err, chain.ErrNoBlock) {
			return header{}, fmt.Errorf("%w: block %d is needed, and perhaps lower ones", errHistory, height)
		}
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

// absent reads solidified blocks above anchor, each linked to the one before, until one is later than past, and reports
// whether the transaction is in none of them.
func absent(ctx context.Context, s *rpc.Session, anchor header, top, past uint64, id hash) (bool, error) {
	for last := anchor; last.clock() <= past; {
		if last.height() >= top {
			return false, s.Fail(fmt.Errorf("%w: no block is later than %d", errPartial, past))
		}
		blocks, err := list(ctx, s, last.height()+1, int(min(window, top-last.height())), top)
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

// listers is how many blocks are requested concurrently.
const listers = 4

// listedAt requests one solidified block.
func listedAt(ctx context.Context, s *rpc.Session, height, newest uint64) (*listed, error) {
	b := &listed{}
	if err := post(ctx, s, solid, "getblockbynum", map[string]any{"num": height}, b); err != nil {
		return nil, unsound(s, fmt.Errorf("block %d: %w", height, err))
	}
	if b.ID == (hash{}) && len(b.Txs) == 0 && height+window < newest {
		return nil, fmt.Errorf("%w: block %d is needed", errHistory, height)
	}
	err := b.check()
	if err == nil && (b.height() != height || (len(b.Txs) == 0) != (b.Header.Raw.Root == hash{})) {
		err = errPartial
	}
	if err != nil {
		return nil, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	return b, nil
}

// list requests count solidified blocks from a height on. A missing block far below the newest was deleted; behind one
// URL there may be nodes that do not have the newest ones yet.
func list(ctx context.Context, s *rpc.Session, from uint64, count int, newest uint64) ([]*listed, error) {
	blocks := make([]*listed, count)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(listers)
	for i := range blocks {
		group.Go(func() error {
			return rpc.Guarded(func() (err error) {
				blocks[i], err = listedAt(groupCtx, s, from+uint64(i), newest)
				return err
			})
		})
	}
	return blocks, group.Wait()
}

var _ chain.Historian = (*Chain)(nil)

// Outcome returns what became of a transaction, from any endpoint that keeps the history.
func (c *Chain) Outcome(ctx context.Context, unsigned chain.UnsignedTx, txID string) (chain.Outcome, error) {
	id, err := parseHash(txID)
	if err != nil {
		return chain.Outcome{}, fmt.Errorf("outcome of %.80q: %w", txID, err)
	}
	in, err := rpc.Anywhere(ctx, c.nodes.Client, func(ctx context.Context, s *rpc.Session) (header, error) {
		return find(ctx, s, full, id)
	}, func(err error) bool { return errors.Is(err, chain.ErrNoBlock) || lacksHistory(err) })
	switch {
	case err == nil:
		return chain.Outcome{Included: true, Block: in.ref()}, nil
	case !errors.Is(err, rpc.ErrLacks):
		return chain.Outcome{}, fmt.Errorf("outcome of %s: %w", txID, err)
	}
	gone, err := c.Expired(ctx, unsigned, txID)
	return chain.Outcome{Expired: gone}, err
}

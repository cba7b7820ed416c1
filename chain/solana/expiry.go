package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// lifetime is how many blocks a blockhash stays valid after its own (Agave: MAX_PROCESSING_AGE).
const lifetime = 150

var errUnproven = errors.New("the node cannot prove it")

// Expired reports whether a draft is dead: the final chain is higher than its last block height, the node has every block
// from the one that gave the blockhash to the first that is too high, linked by hash, and it finds the signature nowhere.
// A node that lacks a block of these, or that lags behind its own word, proves nothing, which is an error.
func (c *Chain) Expired(ctx context.Context, draft chain.Draft, txID string) (bool, error) {
	dead, err := c.expired(ctx, draft, txID)
	if err != nil {
		return false, fmt.Errorf("expiry of %s: %w", txID, err)
	}
	return dead, nil
}

func (c *Chain) expired(ctx context.Context, draft chain.Draft, txID string) (bool, error) {
	e, m, err := unpack(draft.Unsigned)
	if err != nil {
		return false, err
	}
	sig, err := parseSignature(txID)
	if err != nil || draft.Expires != e.lastHeight {
		return false, fmt.Errorf("%w: its id or its end is not the draft's", errDraft)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return false, err
	}
	var epoch struct {
		Slot   uint64 `json:"absoluteSlot"`
		Height uint64 `json:"blockHeight"`
	}
	if err := s.Call(ctx, "getEpochInfo", []any{at{finalized}}, &epoch); err != nil || epoch.Height <= e.lastHeight {
		return false, err
	}
	if err := covered(ctx, s, e, m.blockhash); err != nil {
		return false, err
	}
	found, err := askStatus(ctx, s, sig)
	if err != nil {
		return false, err
	}
	if found.Context.Slot < epoch.Slot {
		return false, fmt.Errorf("%w: it answers for slot %d and has said that %d is final", errUnproven, found.Context.Slot, epoch.Slot)
	}
	return found.Value[0] == nil, nil
}

// covered makes sure that the node has every final block that could hold a draft's transaction.
func covered(ctx context.Context, s *rpc.Session, e *envelope, blockhash key) error {
	slots, err := slotsAfter(ctx, s, e.slot-1, lifetime+2)
	if err != nil {
		return err
	}
	if len(slots) < 2 || slots[0] != e.slot {
		return fmt.Errorf("%w: it no longer has the block at slot %d", errUnproven, e.slot)
	}
	blocks := make([]block, len(slots))
	requests := make([]*rpc.Request, len(slots))
	for i, slot := range slots {
		requests[i] = &rpc.Request{Method: "getBlock", Params: []any{slot, details("none")}, Out: &blocks[i]}
	}
	if err := s.Batch(ctx, requests); err != nil {
		return err
	}
	line := make([]*block, len(slots))
	for i, r := range requests {
		line[i], err = readBlock(s, slots[i], "none", &blocks[i], r.Err)
		var none *absentError
		if err != nil && !errors.As(err, &none) {
			return err
		}
	}
	if line[0] == nil || line[0].Hash != blockhash.String() {
		return fmt.Errorf("%w: the block at slot %d is another one", errUnproven, e.slot)
	}
	return reaches(chain.BlockRef{Height: e.slot, Hash: line[0].Hash}, slots[1:], line[1:], e.lastHeight)
}

// reaches makes sure that blocks follow first without a gap to one above a block height.
func reaches(first chain.BlockRef, slots []uint64, blocks []*block, height uint64) error {
	line, gap := linked(first, slots, blocks)
	if gap != nil {
		return fmt.Errorf("%w: %w", errUnproven, gap)
	}
	for _, h := range line {
		if h.Height != nil && *h.Height > height {
			return nil
		}
	}
	return fmt.Errorf("%w: it shows %d blocks after slot %d, none above height %d", errUnproven, len(line), first.Height, height)
}

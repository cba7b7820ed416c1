package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

// lifetime is how many blocks a blockhash stays valid after its own (Agave: MAX_PROCESSING_AGE).
const lifetime = 150

var errUnproven = errors.New("the node cannot prove it")

// Expired reports whether a draft is dead: the final chain is higher than its last block height, the node has every block
// from the one that gave the blockhash to the first that is too high, and it finds the signature nowhere.
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
	s, err := c.pin(ctx)
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
	if err := s.covered(ctx, e, m.blockhash); err != nil {
		return false, err
	}
	found, err := s.status(ctx, sig)
	if err != nil {
		return false, err
	}
	if found.Context.Slot < epoch.Slot {
		return false, fmt.Errorf("%w: it answers for slot %d and has said that %d is final", errUnproven, found.Context.Slot, epoch.Slot)
	}
	return found.Value[0] == nil, nil
}

// covered makes sure that the node has every final block that could hold a draft's transaction. A block's height is the
// number of blocks before it: so a list of slots from a block of one height to a block of another is whole when it is as
// long as the heights are apart. The blocks at the ends, and some between, are read to see that the node has what it lists.
func (n *node) covered(ctx context.Context, e *envelope, blockhash key) error {
	first, err := n.born(ctx, e, blockhash)
	if err != nil {
		return err
	}
	slots, err := n.slotsAfter(ctx, first.slot, lifetime+1)
	if err != nil {
		return err
	}
	end := e.lastHeight + 1 - *first.Height // blocks after the first one
	if uint64(len(slots)) < end {
		return fmt.Errorf("%w: it lists %d blocks after slot %d, and %d are needed to pass height %d", errUnproven, len(slots), first.slot, end, e.lastHeight)
	}
	for i := end; ; i -= min(i, proofStep) {
		if i == 0 {
			return nil
		}
		b, err := n.blockAt(ctx, slots[i-1], bare)
		var none *absentError
		switch {
		case errors.As(err, &none):
			return fmt.Errorf("%w: %w", errUnproven, none)
		case err != nil:
			return err
		case b.Height == nil || *b.Height != *first.Height+i:
			return fmt.Errorf("%w: its list of slots leaves out a block before slot %d", errUnproven, slots[i-1])
		}
	}
}

// proofStep is how many blocks one of the blocks that are read stands for.
const proofStep = 16

// born returns the final block that gave a draft its blockhash. It is looked for at the slot that the draft names and, as a
// cache may have named the hash of another slot, at the height that the draft's end implies.
func (n *node) born(ctx context.Context, e *envelope, blockhash key) (*held, error) {
	b, err := n.blockAt(ctx, e.slot, bare)
	var none *absentError
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	if err == nil && b.Hash == blockhash.String() && fits(b, e.lastHeight) {
		return &held{e.slot, b}, nil
	}
	lost := fmt.Errorf("%w: the block with hash %s is not at slot %d, nor near it", errUnproven, blockhash, e.slot)
	if e.lastHeight < lifetime {
		return nil, lost
	}
	slots, err := n.slotsAfter(ctx, e.slot-min(e.slot, bornNear), 2*bornNear)
	if err != nil || len(slots) == 0 {
		return nil, errors.Join(lost, err)
	}
	anchor, err := n.blockAt(ctx, slots[0], bare)
	if err != nil || anchor.Height == nil || *anchor.Height > e.lastHeight-lifetime {
		return nil, errors.Join(lost, err)
	}
	i := e.lastHeight - lifetime - *anchor.Height
	if i >= uint64(len(slots)) {
		return nil, lost
	}
	if b, err = n.blockAt(ctx, slots[i], bare); err != nil || !fits(b, e.lastHeight) {
		return nil, errors.Join(lost, err)
	}
	if b.Hash == blockhash.String() {
		return &held{slots[i], b}, nil
	}
	if i+1 == uint64(len(slots)) {
		return nil, lost
	}
	if err := n.orphaned(ctx, b, slots[i+1], blockhash); err != nil {
		return nil, errors.Join(lost, err)
	}
	return &held{slots[i], b}, nil
}

// orphaned makes sure that a blockhash is not on the final chain: a confirmed block gave it, and another one is final at its
// height, as the next block says too. That block is as good a beginning for the proof. The node must not take the hash.
func (n *node) orphaned(ctx context.Context, instead *block, next uint64, blockhash key) error {
	b, err := n.blockAt(ctx, next, bare)
	if err != nil {
		return err
	}
	if b.Previous != instead.Hash {
		return fmt.Errorf("%w: block at slot %d", errNotLinked, next)
	}
	var answer struct {
		Value *bool `json:"value"`
	}
	if err := n.Call(ctx, "isBlockhashValid", []any{blockhash.String(), at{finalized}}, &answer); err != nil {
		return err
	}
	if answer.Value == nil || *answer.Value {
		return fmt.Errorf("%w: the node still takes blockhash %s", errUnproven, blockhash)
	}
	return nil
}

// bornNear is how many slots off the one that a cache names its hash may be.
const bornNear = 64

// fits reports whether a block's hash is valid up to a height and no further.
func fits(b *block, lastHeight uint64) bool {
	return b.Height != nil && *b.Height+lifetime == lastHeight
}

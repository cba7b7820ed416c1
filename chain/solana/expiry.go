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

var _ chain.Historian = (*Chain)(nil)

var errUnproven = errors.New("the node cannot prove that the transaction has expired")

// Expired reports whether an unsigned transaction can no longer be included: the final chain is higher than its last
// block height, the node has every block from the one that gave the blockhash to the first that is too high, and finds
// the signature nowhere. A node whose answers lag behind its final slot proves nothing, which is an error. Neither does
// a node that has deleted one of these blocks (an Agave validator keeps about two days: --limit-ledger-size): then the
// next one is asked. The error is chain.ErrPruned if all have.
func (c *Chain) Expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (_ bool, err error) {
	defer chain.Wrap(&err, "expiry of %s", txID)
	e, m, err := unpack(unsigned.Bytes)
	if err != nil {
		return false, err
	}
	sig, err := parseSignature(txID)
	if err != nil || unsigned.Expires != e.lastHeight {
		return false, fmt.Errorf("%w: its id or its last block height differs from the unsigned transaction's",
			errUnsigned)
	}
	expired, err := rpc.Anywhere(ctx, c.nodes.Client, func(ctx context.Context, s *rpc.Session) (bool, error) {
		return (&node{s, &c.manner}).expired(ctx, e, m.blockhash, sig)
	}, func(err error) bool { return errors.Is(err, errHistory) })
	if errors.Is(err, rpc.ErrLacks) {
		err = fmt.Errorf("%w: %w", chain.ErrPruned, err)
	}
	return expired, err
}

// errHistory means that a node has deleted a block that may contain a transaction, or keeps no transactions.
var errHistory = errors.New("the node lacks some of the blocks that may contain the transaction")

func (n *node) expired(ctx context.Context, e *envelope, blockhash key, sig signature) (bool, error) {
	var epoch struct {
		Slot   uint64 `json:"absoluteSlot"`
		Height uint64 `json:"blockHeight"`
	}
	if err := n.Call(ctx, "getEpochInfo", []any{at{finalized}}, &epoch); err != nil || epoch.Height <= e.lastHeight {
		return false, err
	}
	found, err := n.status(ctx, sig)
	switch {
	case keepsNone(err):
		return false, fmt.Errorf("%w: %w", errHistory, err)
	case err != nil:
		return false, err
	case found.Value[0] != nil:
		return false, nil
	case found.Context.Slot < epoch.Slot:
		return false, fmt.Errorf("%w: the node answers as of slot %d but has reported slot %d as final", errUnproven,
			found.Context.Slot,
			epoch.Slot)
	}
	if err := n.covered(ctx, e, blockhash); err != nil {
		return false, n.pruned(ctx, e, err)
	}
	return true, nil
}

// pruned checks whether a node cannot prove the expiry because it has deleted the blocks.
func (n *node) pruned(ctx context.Context, e *envelope, why error) error {
	if !errors.Is(why, errUnproven) {
		return why
	}
	var first uint64
	if err := n.Call(ctx, "getFirstAvailableBlock", []any{}, &first); err != nil {
		return errors.Join(why, err)
	}
	if first <= e.slot {
		return why
	}
	return fmt.Errorf("%w: the slots from %d on are needed, the node keeps those from %d on: %w", errHistory, e.slot,
		first, why)
}

// covered checks that the node has every final block that could contain an unsigned transaction. A block's height is
// the number of blocks before it: so a list of slots from a block of one height to a block of another is complete if
// its length equals the difference of the heights. The blocks at the ends, and some between, are read to check that the
// node has the blocks that it lists.
func (n *node) covered(ctx context.Context, e *envelope, blockhash key) error {
	first, err := n.born(ctx, e, blockhash)
	if err != nil {
		return err
	}
	slots, err := n.slotsAfter(ctx, first.slot, lifetime+1)
	if err != nil {
		return err
	}
	end := e.lastHeight + 1 - *first.Height // number of blocks after the first one
	if uint64(len(slots)) < end {
		return fmt.Errorf("%w: the node lists %d blocks after slot %d, and %d are needed to pass height %d",
			errUnproven,
			len(slots), first.slot, end, e.lastHeight)
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
			return fmt.Errorf("%w: its list of slots omits a block before slot %d", errUnproven, slots[i-1])
		}
	}
}

// proofStep is how many listed blocks there are for each block that is read.
const proofStep = 16

// born returns the final block that gave an unsigned transaction its blockhash. It searches at the slot that the
// unsigned transaction names and, since a cache may have named another slot for the hash, at the height that follows
// from the transaction's last block height.
func (n *node) born(ctx context.Context, e *envelope, blockhash key) (*held, error) {
	b, err := n.blockAt(ctx, e.slot, bare)
	var none *absentError
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	if err == nil && b.Hash == blockhash.String() && fits(b, e.lastHeight) {
		return &held{e.slot, b}, nil
	}
	lost := fmt.Errorf("%w: the block with hash %s is not at slot %d or near it", errUnproven, blockhash, e.slot)
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

// orphaned checks that a blockhash is not on the final chain: a confirmed block gave it, and another block is final at
// its height, which the next block confirms. The proof may start at that block as well. The node must not accept the
// hash.
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
		return fmt.Errorf("%w: the node still accepts blockhash %s", errUnproven, blockhash)
	}
	return nil
}

// bornNear is how many slots a cache may be wrong about the slot of its hash.
const bornNear = 64

// fits reports whether a block's hash is valid up to exactly a height.
func fits(b *block, lastHeight uint64) bool {
	return b.Height != nil && *b.Height+lifetime == lastHeight
}

// Outcome returns what became of a transaction, from any endpoint that keeps the history.
func (c *Chain) Outcome(ctx context.Context, unsigned chain.UnsignedTx, txID string) (chain.Outcome, error) {
	sig, err := parseSignature(txID)
	if err != nil {
		return chain.Outcome{}, fmt.Errorf("outcome of %.100q: %w", txID, errUnsigned)
	}
	in, err := rpc.Anywhere(ctx, c.nodes.Client, func(ctx context.Context, s *rpc.Session) (chain.BlockRef, error) {
		return find(ctx, &node{s, &c.manner}, sig)
	}, func(err error) bool { return errors.Is(err, chain.ErrNoBlock) || keepsNone(err) })
	switch {
	case err == nil:
		return chain.Outcome{Included: true, Block: in}, nil
	case !errors.Is(err, rpc.ErrLacks):
		return chain.Outcome{}, fmt.Errorf("outcome of %s: %w", txID, err)
	}
	expired, err := c.Expired(ctx, unsigned, txID)
	return chain.Outcome{Expired: expired}, err
}

// keepsNone reports whether a node says that it keeps no transactions.
func keepsNone(err error) bool {
	var answered *rpc.Error
	return errors.As(err, &answered) && answered.Code == codeHistory
}

package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	finalized = "finalized"
	confirmed = "confirmed"
	// headTries is how many of the newest blocks are requested: a node stores a block's answer a little after it is
	// final.
	headTries = 4
)

// at is a commitment level as a parameter of a call.
type at struct {
	Commitment string `json:"commitment"`
}

// Head returns the newest finalized block, as both Latest and Final: blocks that may still be reorged out are not read.
func (c *Chain) Head(ctx context.Context) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head")
	c.nodes.CompareHeights(ctx, surveySlot)
	s, err := c.pin(ctx)
	if err != nil {
		return chain.Head{}, err
	}
	ref, err := c.head(ctx, s)
	if err != nil {
		return chain.Head{}, err
	}
	return chain.Head{Latest: ref, Final: ref}, nil
}

func surveySlot(ctx context.Context, s *rpc.Session) (slot uint64, err error) {
	err = s.Call(ctx, "getSlot", []any{at{finalized}}, &slot)
	return slot, err
}

func finalSlot(ctx context.Context, s *node) (uint64, error) { return surveySlot(ctx, s.Session) }

// head requests the newest final slot. Only a node whose slot does not advance is asked for its health: an unhealthy
// one answers with an error, which starts a cool-down.
func (c *Chain) head(ctx context.Context, s *node) (chain.BlockRef, error) {
	slot, err := finalSlot(ctx, s)
	if err != nil {
		return chain.BlockRef{}, err
	}
	if c.manner.stalled(s.Name(), slot) {
		var health string
		if err := s.CallOptional(ctx, "getHealth", nil, &health); err != nil && !rpc.Declined(err) {
			return chain.BlockRef{}, err
		}
	}
	if err := s.Observe(slot); err != nil {
		return chain.BlockRef{}, err
	}
	return ref(s.nearest(ctx, slot, finalized))
}

func ref(h *held, err error) (chain.BlockRef, error) {
	if err != nil {
		return chain.BlockRef{}, err
	}
	return h.ref(), nil
}

// nearest returns the newest block at or below a slot. If a node cannot return the very newest yet, an older one is
// returned.
func (n *node) nearest(ctx context.Context, slot uint64, commitment string) (*held, error) {
	b, err := n.blockOf(ctx, slot, bare, commitment)
	var none *absentError
	if err == nil {
		return &held{slot, b}, nil
	} else if !errors.As(err, &none) || none.cleaned() {
		return nil, err
	}
	below, err := n.producedBelow(ctx, slot, commitment)
	if err != nil {
		return nil, err
	}
	for _, candidate := range slices.Backward(below) {
		b, err := n.blockOf(ctx, candidate, bare, commitment)
		if err == nil {
			return &held{candidate, b}, nil
		} else if !errors.As(err, &none) {
			return nil, err
		}
	}
	return nil, n.Fail(none)
}

// producedBelow returns the newest few slots below a slot that have blocks, in rising order.
func (n *node) producedBelow(ctx context.Context, slot uint64, commitment string) ([]uint64, error) {
	for _, reach := range []uint64{32, 512, 8192, 500_000} { // the last is the most that getBlocks accepts
		from := slot - min(slot, reach)
		var slots []uint64
		if err := n.Call(ctx, "getBlocks", []any{from, slot, at{commitment}}, &slots); err != nil {
			return nil, fmt.Errorf("slots below %d: %w", slot, err)
		}
		if !rising(slots, from, slot) {
			return nil, n.Fail(fmt.Errorf("slots below %d: %w", slot, errSlots))
		}
		if k := len(slots); k > 0 && slots[k-1] == slot {
			slots = slots[:k-1] // it was requested already
		}
		if k := len(slots); k > 0 {
			return slots[k-min(k, headTries):], nil
		}
	}
	return nil, fmt.Errorf("%w at or below slot %d", chain.ErrNoBlock, slot)
}

var errSlots = errors.New("the list of slots is out of order or out of range")

// rising reports whether slots rise within bounds.
func rising(slots []uint64, from, to uint64) bool {
	for i, slot := range slots {
		if slot < from || slot > to || i > 0 && slot <= slots[i-1] {
			return false
		}
	}
	return true
}

// At returns the block at a slot, or of the nearest slot below that has one; chain.ErrNoBlock above the newest final
// slot. If a node has deleted the block, the other endpoints are asked: a node keeps as many as --limit-ledger-size
// says.
func (c *Chain) At(ctx context.Context, height uint64) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "block at slot %d", height)
	s, err := c.pin(ctx)
	if err != nil {
		return chain.BlockRef{}, err
	}
	found, err := s.at(ctx, height)
	var none *absentError
	if errors.As(err, &none) && none.cleaned() {
		found, err = c.atAnother(ctx, s.Name(), height, err)
	}
	if err != nil {
		return chain.BlockRef{}, err
	}
	return found, nil
}

// atAnother asks every endpoint except one. The error is the first one's unless another had the block.
func (c *Chain) atAnother(ctx context.Context, but string, height uint64, first error) (chain.BlockRef, error) {
	for _, e := range c.nodes.Endpoints() {
		if e.Name == but {
			continue
		}
		s, err := c.on(ctx, e.Name)
		if err != nil {
			continue // it is in a cool-down, which is reported elsewhere
		}
		if found, err := s.at(ctx, height); err == nil {
			return found, nil
		}
	}
	return chain.BlockRef{}, first
}

func (n *node) at(ctx context.Context, height uint64) (chain.BlockRef, error) {
	tip, err := finalSlot(ctx, n)
	if err != nil {
		return chain.BlockRef{}, err
	}
	if height > tip {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	return ref(n.nearest(ctx, height, finalized))
}

// Find returns the final block that contains a transaction, or chain.ErrNoBlock, also for a text that is not a
// signature.
func (c *Chain) Find(ctx context.Context, txID string) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "find %.100q", txID)
	id, err := parseSignature(txID)
	if err != nil {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	s, err := c.pin(ctx)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return find(ctx, s, id)
}

func find(ctx context.Context, s *node, id signature) (chain.BlockRef, error) {
	var t struct {
		Slot *uint64 `json:"slot"`
		Body struct {
			Signatures []string `json:"signatures"`
		} `json:"transaction"`
	}
	err := s.ask(ctx, "getTransaction", id.String(), bare, finalized, &t)
	if errors.Is(err, rpc.ErrNull) {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.BlockRef{}, err
	}
	if t.Slot == nil || len(t.Body.Signatures) == 0 || t.Body.Signatures[0] != id.String() {
		return chain.BlockRef{}, s.Fail(errOtherTx)
	}
	b, err := s.blockAt(ctx, *t.Slot, bare)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return chain.BlockRef{Height: *t.Slot, Hash: b.Hash}, nil
}

var errOtherTx = errors.New("the node returned another transaction")

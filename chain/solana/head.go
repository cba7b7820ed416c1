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
	// surveyEvery is how many calls of Head pass between comparisons of all nodes' slots.
	surveyEvery = 10
	// headTries is how many of the newest blocks are asked for: a node stores a block's answer a little after it is final.
	headTries = 4
)

// at names a commitment level in a call.
type at struct {
	Commitment string `json:"commitment"`
}

// detail is what to tell of a block or a transaction.
type detail struct {
	Commitment string `json:"commitment"`
	Encoding   string `json:"encoding"`
	Details    string `json:"transactionDetails,omitempty"`
	Version    int    `json:"maxSupportedTransactionVersion"` // 0 is the highest there is
	Rewards    bool   `json:"rewards"`
}

func details(which string) detail {
	return detail{Commitment: finalized, Encoding: "json", Details: which}
}

// absentError says that a node cannot show a slot's block. That alone does not mean that the slot has none.
type absentError struct {
	slot uint64
	why  error
}

func (e *absentError) Error() string { return fmt.Sprintf("slot %d cannot be had: %v", e.slot, e.why) }

// absent are the codes with which nodes say so (Agave: rpc_custom_error).
var absent = []int{
	-32004, // block not available for the slot
	-32007, // slot skipped, or missing due to a jump to a recent snapshot
	-32009, // slot skipped, or missing in long-term storage
	-32014, // block status not yet available
	-32015, // a transaction of an unsupported version: then no proof can be found that the slot is empty
}

// blockAt asks for the block of a slot. The error is an *absentError when the node cannot show it.
func blockAt(ctx context.Context, s *rpc.Session, slot uint64, which string) (*block, error) {
	var b block
	return readBlock(s, slot, which, &b, s.Call(ctx, "getBlock", []any{slot, details(which)}, &b))
}

// readBlock judges the answer of getBlock.
func readBlock(s *rpc.Session, slot uint64, which string, b *block, err error) (*block, error) {
	var answered *rpc.Error
	switch {
	case errors.Is(err, rpc.ErrNull), errors.As(err, &answered) && slices.Contains(absent, answered.Code):
		return nil, &absentError{slot, err}
	case answered != nil:
		return nil, s.Fail(fmt.Errorf("block at slot %d: %w", slot, err))
	case err != nil:
		return nil, fmt.Errorf("block at slot %d: %w", slot, err)
	}
	check := b.check
	if which == "full" {
		check = b.checkWhole
	}
	if err := check(slot); err != nil {
		return nil, s.Fail(fmt.Errorf("block at slot %d: %w", slot, err))
	}
	return b, nil
}

// Head returns the newest finalized block, twice: nothing that may still leave the chain is looked at.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	if c.several && c.heads.Add(1)%surveyEvery == 1 {
		// What it finds is acted upon inside; when no node answers, Pin says so better.
		_ = c.nodes.Survey(ctx, finalSlot)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head: %w", err)
	}
	ref, err := head(ctx, s)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head: %w", err)
	}
	return chain.Head{Latest: ref, Final: ref}, nil
}

func finalSlot(ctx context.Context, s *rpc.Session) (slot uint64, err error) {
	err = s.Call(ctx, "getSlot", []any{at{finalized}}, &slot)
	return slot, err
}

func head(ctx context.Context, s *rpc.Session) (chain.BlockRef, error) {
	var slot uint64
	var health string // a node that is not well answers an error, which puts it aside
	requests := []*rpc.Request{
		{Method: "getHealth", Out: &health},
		{Method: "getSlot", Params: []any{at{finalized}}, Out: &slot},
	}
	if err := s.Batch(ctx, requests); err != nil {
		return chain.BlockRef{}, err
	}
	if err := errors.Join(requests[0].Err, requests[1].Err); err != nil {
		return chain.BlockRef{}, err
	}
	if err := s.Observe(slot); err != nil {
		return chain.BlockRef{}, err
	}
	return nearest(ctx, s, slot)
}

// nearest returns the newest block at or below a slot. While a node cannot yet show the very newest, an older one is taken.
func nearest(ctx context.Context, s *rpc.Session, slot uint64) (chain.BlockRef, error) {
	b, err := blockAt(ctx, s, slot, "none")
	var none *absentError
	if err == nil {
		return chain.BlockRef{Height: slot, Hash: b.Hash}, nil
	} else if !errors.As(err, &none) {
		return chain.BlockRef{}, err
	}
	below, err := producedBelow(ctx, s, slot)
	if err != nil {
		return chain.BlockRef{}, err
	}
	for _, candidate := range slices.Backward(below) {
		b, err := blockAt(ctx, s, candidate, "none")
		if err == nil {
			return chain.BlockRef{Height: candidate, Hash: b.Hash}, nil
		} else if !errors.As(err, &none) {
			return chain.BlockRef{}, err
		}
	}
	return chain.BlockRef{}, s.Fail(none)
}

// producedBelow lists the newest few slots below a slot that have blocks, in rising order.
func producedBelow(ctx context.Context, s *rpc.Session, slot uint64) ([]uint64, error) {
	for _, reach := range []uint64{32, 512, 8192, 500_000} { // the last is the most that getBlocks takes
		from := slot - min(slot, reach)
		var slots []uint64
		if err := s.Call(ctx, "getBlocks", []any{from, slot, at{finalized}}, &slots); err != nil {
			return nil, fmt.Errorf("slots below %d: %w", slot, err)
		}
		if !rising(slots, from, slot) {
			return nil, s.Fail(fmt.Errorf("slots below %d: %w", slot, errSlots))
		}
		if n := len(slots); n > 0 && slots[n-1] == slot {
			slots = slots[:n-1] // it was asked for already
		}
		if n := len(slots); n > 0 {
			return slots[n-min(n, headTries):], nil
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

// At returns the block at a slot, or of the nearest slot below that has one; chain.ErrNoBlock above the newest final slot.
func (c *Chain) At(ctx context.Context, height uint64) (chain.BlockRef, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("block at slot %d: %w", height, err)
	}
	tip, err := finalSlot(ctx, s)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("block at slot %d: %w", height, err)
	}
	if height > tip {
		return chain.BlockRef{}, fmt.Errorf("block at slot %d: %w", height, chain.ErrNoBlock)
	}
	return nearest(ctx, s, height)
}

// Find returns the final block that holds a transaction, or chain.ErrNoBlock; what is no signature is in none.
func (c *Chain) Find(ctx context.Context, txID string) (chain.BlockRef, error) {
	id, err := parseSignature(txID)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("find %.100q: %w", txID, chain.ErrNoBlock)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("find %s: %w", id, err)
	}
	found, err := find(ctx, s, id)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("find %s: %w", id, err)
	}
	return found, nil
}

func find(ctx context.Context, s *rpc.Session, id signature) (chain.BlockRef, error) {
	var t struct {
		Slot *uint64 `json:"slot"`
		transaction
	}
	err := s.Call(ctx, "getTransaction", []any{id.String(), detail{Commitment: finalized, Encoding: "json"}}, &t)
	if errors.Is(err, rpc.ErrNull) {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.BlockRef{}, err
	}
	if t.Slot == nil || len(t.Body.Signatures) == 0 || t.id() != id.String() {
		return chain.BlockRef{}, s.Fail(errOtherTx)
	}
	b, err := blockAt(ctx, s, *t.Slot, "none")
	if err != nil {
		return chain.BlockRef{}, err
	}
	return chain.BlockRef{Height: *t.Slot, Hash: b.Hash}, nil
}

var errOtherTx = errors.New("the node answered with another transaction")

package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// fetched are blocks of several slots. An unavailable block is nil, and missing then says why.
type fetched struct {
	slots   []uint64
	blocks  []*block
	missing []*absentError
	from    []*rpc.Session // the endpoint of each block
}

// fetch requests the blocks of slots, many at a time and from several endpoints. It may return fewer than requested,
// but at least one.
func fetch(ctx context.Context, s *node, slots []uint64) (*fetched, error) {
	f := &fetched{missing: make([]*absentError, len(slots)), from: make([]*rpc.Session, len(slots))}
	blocks, err := rpc.Fetch(ctx, s.Session, len(slots), slots[len(slots)-1],
		func(ctx context.Context, from *rpc.Session, i int) (*block, error) {
			b, err := (&node{from, s.manner}).blockAt(ctx, slots[i], whole)
			f.from[i] = from
			var none *absentError
			if from == s.Session && errors.As(err, &none) {
				f.missing[i] = none
				return nil, nil
			}
			return b, err
		})
	f.blocks, f.slots = blocks, slots[:len(blocks)]
	return f, err
}

// proven cuts a line before the first block that the node of this read does not know: the endpoint that gave it is on
// another chain, or wrong. A block that a block of this node names as its parent is proven together with all blocks
// before it.
func (f *fetched) proven(ctx context.Context, s *node, line []held, gap error) ([]held, error) {
	if gap != nil {
		if err := f.compare(ctx, s, f.place(len(line))); err != nil && !errors.Is(err, errNotSame) {
			return line, err
		}
	}
	for end := len(line); end > 0 && f.from[f.place(end-1)] != s.Session; end = len(line) {
		err := f.compare(ctx, s, f.place(end-1))
		if !errors.Is(err, errNotSame) {
			return line, err
		}
		line = line[:end-1]
	}
	return line, nil
}

var errNotSame = errors.New("another endpoint has another block at this slot")

// compare requests from the node of this read the hash of a block that came from another endpoint, and blames that
// endpoint for a different one.
func (f *fetched) compare(ctx context.Context, s *node, i int) error {
	if f.from[i] == s.Session || f.blocks[i] == nil {
		return nil
	}
	b, err := s.blockAt(ctx, f.slots[i], bare)
	var none *absentError
	switch {
	case errors.As(err, &none):
		return errNotSame // the node does not know, which is not the other endpoint's fault
	case err != nil || b.Hash == f.blocks[i].Hash:
		return err
	}
	_ = f.from[i].Fail(fmt.Errorf("block at slot %d: %w: %s", f.slots[i], errNotSame,
		b.Hash)) // the error of Fail matters only to a read of that endpoint
	f.blocks[i] = nil
	return errNotSame
}

// place returns the index of the block that comes after so many others.
func (f *fetched) place(others int) int {
	for i, b := range f.blocks {
		if b == nil {
			continue
		}
		if others--; others < 0 {
			return i
		}
	}
	return len(f.blocks) - 1
}

// again requests once more the blocks before the first available one.
func (f *fetched) again(ctx context.Context, s *node) error {
	for i := range f.blocks {
		if f.blocks[i] != nil {
			return nil
		}
		b, err := s.blockAt(ctx, f.slots[i], whole)
		var none *absentError
		switch {
		case err == nil:
			f.blocks[i], f.missing[i], f.from[i] = b, nil, s.Session
			return nil
		case !errors.As(err, &none):
			return err
		}
		f.missing[i] = none
	}
	return nil
}

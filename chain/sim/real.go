package sim

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Real reads the chain as it really is, whatever its endpoints show and however often its nodes fail, and uses up none
// of their faults. It is for tests that check a service, and never for the service itself.
type Real struct{ *Chain }

// At is Chain.At.
func (r Real) At(_ context.Context, height uint64) (chain.BlockRef, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if height >= uint64(len(r.blocks)) {
		return chain.BlockRef{}, fmt.Errorf("block at %d: %w", height, chain.ErrNoBlock)
	}
	return r.blocks[height].ref, nil
}

// After is Chain.After without a call of Sync, for a watch that has nothing to load.
func (r Real) After(_ context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.onChain(last) {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, chain.ErrOffChain)
	}
	var seen []chain.Block
	for _, b := range r.blocks[last.Height+1:] {
		if len(seen) == limit {
			break
		}
		seen = append(seen, b.seenBy(watch))
	}
	return seen, nil
}

// Holdings is Chain.Holdings.
func (r Real) Holdings(_ context.Context, bases []string, contract string, at chain.BlockRef) ([]bursar.Amount, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holdings(bases, contract, at)
}
